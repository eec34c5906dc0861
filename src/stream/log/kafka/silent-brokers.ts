import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker, Cluster } from './kafkajs-internals.ts';
import { refreshLeaders } from './leader.ts';
import type { AwaitedAddress, BrokerAddress, TrackedSockets } from './tracked-sockets.ts';

/** A broker that does not answer for so long is asked for at another one. A fetch waits for records a tenth of it. */
const SILENT_MS_MAX = 2_000;
/** A first answer takes no longer: no request that waits is sent before it. */
const FIRST_ANSWER_MS_MAX = 5_000;
const CHECK_MS = 500;
const ASK_MS_MAX = 1_000;

/**
 * Gives up the connections to brokers that the cluster has given up. A machine that lost its power or its network
 * closes no connection: requests to it would wait for their time-outs long after its partitions have new leaders. So
 * when a broker is silent, another one is asked whether it is still there. Returns how to end.
 */
export function watchSilentBrokers(cluster: Cluster, sockets: TrackedSockets): () => void {
  let checking = false;
  let lastMs = performance.now();
  const check = async () => {
    const nowMs = performance.now();
    // This process stood still: answers may wait to be read.
    const wasAwake = nowMs - lastMs < 2 * CHECK_MS;
    lastMs = nowMs;
    const silent = wasAwake && !checking ? sockets.awaited(nowMs, SILENT_MS_MAX) : [];
    if (silent.length === 0) return;
    checking = true;
    if (await dropDead(cluster, sockets, silent)) await refreshLeaders(cluster).catch(() => undefined);
    checking = false;
  };
  const timer = setInterval(() => void check(), CHECK_MS).unref();
  return () => clearInterval(timer);
}

async function dropDead(
  cluster: Cluster,
  sockets: TrackedSockets,
  silent: readonly AwaitedAddress[],
): Promise<boolean> {
  const alive = await knownBrokers(cluster, silent);
  const isDead = (address: AwaitedAddress) => {
    const isStrange = !address.answered && address.waitedMs >= FIRST_ANSWER_MS_MAX;
    return isStrange || (alive !== null && !includes(alive, address));
  };
  const dead = silent.filter(isDead);
  for (const address of dead) sockets.drop(address);
  return dead.length > 0;
}

/** The brokers that another broker knows; null where none answers. */
async function knownBrokers(
  { brokerPool, targetTopics }: Cluster,
  silent: readonly BrokerAddress[],
): Promise<readonly BrokerAddress[] | null> {
  const others = Object.values(brokerPool.brokers).filter(({ connectionPool }) => !includes(silent, connectionPool));
  for (const broker of others) {
    const late = new AbortController();
    const brokers = await Promise.race([
      askBroker(broker, [...targetTopics].slice(0, 1)),
      sleep(ASK_MS_MAX, null, { signal: late.signal }).catch(() => null),
    ]);
    late.abort();
    if (brokers !== null) return brokers;
  }
  return null;
}

function askBroker(broker: Broker, topics: readonly string[]): Promise<readonly BrokerAddress[] | null> {
  if (!broker.isConnected()) return Promise.resolve(null);
  return broker.metadata(topics).then(
    ({ brokers }) => brokers,
    () => null,
  );
}

function includes(addresses: readonly BrokerAddress[], { host, port }: BrokerAddress): boolean {
  return addresses.some((address) => address.host === host && address.port === port);
}
