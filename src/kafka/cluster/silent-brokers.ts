import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker, Cluster } from '../protocol/protocol-request.ts';
import { type BrokerAddress, doubt, giveUp, isDoubtful } from './given-up.ts';
import { refreshLeaders } from './leader.ts';
import type { TrackedSockets, WaitingConnection } from './tracked-sockets.ts';

/** A broker that does not answer for so long is looked up at another one. A fetch waits for records a tenth of it. */
const SILENT_MS_MAX = 2_000;
/** The same for a broker that was given up recently. */
const DOUBTFUL_MS_MAX = 500;
/** A first answer takes no longer: no request that waits is sent before it. */
const FIRST_ANSWER_MS_MAX = 5_000;
const CHECK_MS = 250;
/** A longer pause between two checks: this process was suspended, and answers may wait to be read. */
const AWAKE_MS_MAX = 1_000;
/** For the answer of a known broker; and of one of the configuration, with connection and login. */
const LIST_MS_MAX = 1_000;
const LIST_CONFIGURED_MS_MAX = 3_000;

/** The brokers that those of the configuration know, past the silent ones; null if none answers. */
export type ListConfigured = (
  silent: readonly BrokerAddress[],
  topics: readonly string[],
) => Promise<readonly BrokerAddress[] | null>;

/** All that are watched. What one learns of a broker is true for the others. */
const watched = new Set<TrackedSockets>();

/**
 * Gives up the connections to brokers that the cluster has given up. A machine that lost its power or its network
 * closes no connection: requests to it would wait for their time-outs long after its partitions have new leaders. So
 * when a broker is silent, another one is queried whether it is still there. Returns how to end.
 */
export function watchSilentBrokers(
  cluster: Cluster,
  sockets: TrackedSockets,
  listConfigured: ListConfigured,
): () => void {
  let checking = false;
  let lastMs = performance.now();
  const check = async () => {
    const nowMs = performance.now();
    const wasAwake = nowMs - lastMs < AWAKE_MS_MAX;
    lastMs = nowMs;
    const silent = wasAwake && !checking ? sockets.waiting(nowMs).filter((waiting) => isSilent(waiting, nowMs)) : [];
    if (silent.length === 0) return;
    checking = true;
    const alive = await knownBrokers(cluster, silent, listConfigured);
    if (dropDead(silent, alive)) await refreshLeaders(cluster).catch(() => undefined);
    checking = false;
  };
  const timer = setInterval(() => void check(), CHECK_MS).unref();
  watched.add(sockets);
  return () => {
    clearInterval(timer);
    watched.delete(sockets);
  };
}

function isSilent(waiting: WaitingConnection, nowMs: number): boolean {
  return waiting.waitedMs >= (isDoubtful(waiting, nowMs) ? DOUBTFUL_MS_MAX : SILENT_MS_MAX);
}

/** Returns whether there is a dead broker. `alive` is null if it is unknown. */
function dropDead(silent: readonly WaitingConnection[], alive: readonly BrokerAddress[] | null): boolean {
  const nowMs = performance.now();
  const gone = silent.filter((waiting) => alive !== null && !includes(alive, waiting));
  const strange = silent.filter((waiting) => !waiting.answered && waiting.waitedMs >= FIRST_ANSWER_MS_MAX);
  for (const waiting of strange) {
    doubt(waiting, nowMs);
    waiting.drop();
  }
  for (const broker of gone) giveUp(broker, nowMs);
  if (gone.length > 0) for (const sockets of watched) dropAll(sockets, gone, nowMs);
  return gone.length + strange.length > 0;
}

/**
 * Next to the connections to dead brokers all the other ones that are silent: their brokers may wait for an answer of a
 * dead one, such as whether a transaction is open, for half a minute.
 */
function dropAll(sockets: TrackedSockets, dead: readonly BrokerAddress[], nowMs: number): void {
  for (const waiting of sockets.waiting(nowMs)) if (isSilent(waiting, nowMs)) waiting.drop();
  for (const broker of dead) sockets.drop(broker);
}

/** The brokers that another broker knows; null if none answers. */
async function knownBrokers(
  { brokerPool, targetTopics }: Cluster,
  silent: readonly BrokerAddress[],
  listConfigured: ListConfigured,
): Promise<readonly BrokerAddress[] | null> {
  const topics = [...targetTopics].slice(0, 1);
  const brokers = Object.values(brokerPool.brokers);
  const isQuick = ({ connectionPool }: Broker) => !includes(silent, connectionPool);
  for (const broker of [...brokers.filter(isQuick), ...brokers.filter((one) => !isQuick(one))]) {
    const found = await within(LIST_MS_MAX, listBrokers(broker, topics));
    if (found !== null) return found;
  }
  // The metadata may name the silent ones alone: the others were away when they were loaded.
  return within(LIST_CONFIGURED_MS_MAX, listConfigured(silent, topics));
}

/** null if it takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | null> {
  const late = new AbortController();
  const found = await Promise.race([work, sleep(ms, null, { signal: late.signal }).catch(() => null)]);
  late.abort();
  return found;
}

/** Connects to it where that is needed: a member of a group may know its coordinator alone. */
async function listBrokers(broker: Broker, topics: readonly string[]): Promise<readonly BrokerAddress[] | null> {
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
