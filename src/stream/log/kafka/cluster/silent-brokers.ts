import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker, Cluster } from './kafkajs-internals.ts';
import { refreshLeaders } from './leader.ts';
import type { BrokerAddress, TrackedSockets, WaitingConnection } from './tracked-sockets.ts';

/** A broker that does not answer for so long is asked for at another one. A fetch waits for records a tenth of it. */
const SILENT_MS_MAX = 2_000;
/** A first answer takes no longer: no request that waits is sent before it. */
const FIRST_ANSWER_MS_MAX = 5_000;
const CHECK_MS = 500;
const ASK_MS_MAX = 1_000;
/** For so long a broker that was given up is the last to be connected to, and is given up sooner. */
const GIVEN_UP_MS = 60_000;

/** When brokers were given up, by address. All connections of the process share it. */
const givenUp = new Map<string, number>();

function isDoubtful(address: string, nowMs: number): boolean {
  return nowMs - (givenUp.get(address) ?? Number.NEGATIVE_INFINITY) < GIVEN_UP_MS;
}

/** Brokers that were given up lately come last. */
export function likelyAliveFirst(brokers: readonly string[], nowMs: number): string[] {
  const doubtful = (address: string) => isDoubtful(address, nowMs);
  return [...brokers.filter((address) => !doubtful(address)), ...brokers.filter(doubtful)];
}

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
    const silent = wasAwake && !checking ? sockets.waiting(nowMs).filter((waiting) => isSilent(waiting, nowMs)) : [];
    if (silent.length === 0) return;
    checking = true;
    if (await dropDead(cluster, silent, nowMs)) await refreshLeaders(cluster).catch(() => undefined);
    checking = false;
  };
  const timer = setInterval(() => void check(), CHECK_MS).unref();
  return () => clearInterval(timer);
}

function isSilent(waiting: WaitingConnection, nowMs: number): boolean {
  return waiting.waitedMs >= (isDoubtful(nameOf(waiting), nowMs) ? CHECK_MS : SILENT_MS_MAX);
}

/**
 * Returns whether there is a dead broker. Then all the other connections that are silent are given up, too: their
 * brokers may wait for an answer of the dead one, such as whether a transaction is open, for half a minute.
 */
async function dropDead(cluster: Cluster, silent: readonly WaitingConnection[], nowMs: number): Promise<boolean> {
  const alive = await knownBrokers(cluster, silent);
  const dead = silent.filter((waiting) => {
    const isStrange = !waiting.answered && waiting.waitedMs >= FIRST_ANSWER_MS_MAX;
    return isStrange || (alive !== null && !includes(alive, waiting));
  });
  for (const waiting of dead) givenUp.set(nameOf(waiting), nowMs);
  if (dead.length > 0) for (const waiting of silent) waiting.drop();
  return dead.length > 0;
}

function nameOf({ host, port }: BrokerAddress): string {
  return `${host}:${port}`;
}

/** The brokers that another broker knows; null where none answers. */
async function knownBrokers(
  { brokerPool, targetTopics }: Cluster,
  silent: readonly BrokerAddress[],
): Promise<readonly BrokerAddress[] | null> {
  const brokers = Object.values(brokerPool.brokers);
  const isQuick = ({ connectionPool }: Broker) => !includes(silent, connectionPool);
  for (const broker of [...brokers.filter(isQuick), ...brokers.filter((one) => !isQuick(one))]) {
    const late = new AbortController();
    const found = await Promise.race([
      askBroker(broker, [...targetTopics].slice(0, 1)),
      sleep(ASK_MS_MAX, null, { signal: late.signal }).catch(() => null),
    ]);
    late.abort();
    if (found !== null) return found;
  }
  return null;
}

/** Connects to it where that is needed: a member of a group may know its coordinator alone. */
async function askBroker(broker: Broker, topics: readonly string[]): Promise<readonly BrokerAddress[] | null> {
  try {
    await broker.connect();
    return (await broker.metadata(topics)).brokers;
  } catch {
    return null;
  }
}

function includes(addresses: readonly BrokerAddress[], { host, port }: BrokerAddress): boolean {
  return addresses.some((address) => address.host === host && address.port === port);
}
