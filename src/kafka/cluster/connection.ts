import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KafkaConfig, SaslConfig } from '../../config/config.ts';
import type { SocketFactory } from '../protocol/broker-connection.ts';
import { framedSockets } from '../protocol/framed-sockets.ts';
import type { Broker, Cluster } from '../protocol/protocol-request.ts';
import { SharedConnections } from './connection-pool.ts';
import { explainFailure } from './failure.ts';
import { likelyAliveFirst, nameOf } from './given-up.ts';
import { type Admin, createAdmin, createKafkajsLogger, KafkaCluster } from './kafkajs.ts';
import { oauthLogin } from './oauth-login.ts';
import { type ListConfigured, watchSilentBrokers } from './silent-brokers.ts';
import { trackSockets } from './tracked-sockets.ts';

/** Time-outs of one request. The callers retry. */
export const CONNECTION_MS_MAX = 5_000;
export const REQUEST_MS_MAX = 20_000;
const METADATA_AGE_MS_MAX = 60_000;
/** Retries of kafkajs within one request: few and short. Retries while a broker is out of reach are ours. */
const RETRY = { initialRetryTime: 50, maxRetryTime: 500, retries: 3, multiplier: 2 };
/** After this time a disconnect destroys the sockets. */
const DISCONNECT_MS_MAX = 3_000;

type ClientLogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Settings of a connection to Kafka, and the log of the client. Fault tests set `socketFactory`. */
export interface KafkaConnection {
  readonly config: KafkaConfig;
  readonly socketFactory?: SocketFactory;
  /** Receives by how much a quota of the brokers delays this client, each time. */
  readonly onThrottled?: (ms: number) => void;
  readonly log?: (level: ClientLogLevel, text: string, detail?: Readonly<Record<string, unknown>>) => void;
}

/** Connections to the brokers of a cluster that are closed together. */
export interface ClusterLink {
  readonly cluster: Cluster;
  /** Closes the connections to one broker at once. Requests in flight are rejected. The next request connects again. */
  dropBroker(broker: Broker): void;
  /** Closes every connection at once. Requests in flight are rejected. */
  destroy(): void;
}

/**
 * Connects to the brokers and loads the metadata of `topics`. A request opens a connection again that the broker has
 * closed. `isShared`: many use it at the same time, and none waits for another. Throws kafkajs's errors.
 */
export async function linkCluster(
  connection: KafkaConnection,
  topics: readonly string[],
  { isShared = false }: { readonly isShared?: boolean } = {},
): Promise<ClusterLink> {
  const { cluster, sockets, destroy } = makeCluster(connection, METADATA_AGE_MS_MAX, isShared);
  try {
    await cluster.connect();
    await cluster.addMultipleTargetTopics(topics);
  } catch (error) {
    destroy();
    throw error;
  }
  return { cluster, dropBroker: ({ connectionPool }) => sockets.drop(connectionPool), destroy };
}

/** Does something with connections of its own. Throws a ServiceError. */
export async function withCluster<T>(
  connection: KafkaConnection,
  { topics, doing }: { readonly topics: readonly string[]; readonly doing: string },
  work: (cluster: Cluster) => Promise<T> | T,
): Promise<T> {
  let link: ClusterLink | null = null;
  try {
    link = await linkCluster(connection, topics);
    return await work(link.cluster);
  } catch (error) {
    throw explainFailure(error, doing);
  } finally {
    link?.destroy();
  }
}

/** kafkajs's client for administration. `destroy` closes its connections at once. */
export function adminClient(connection: KafkaConnection): { readonly admin: Admin; destroy(): void } {
  // It looks at the metadata again before each use.
  const { cluster, logger, destroy } = makeCluster(connection, 0, false);
  return { admin: createAdmin({ logger, cluster, retry: RETRY }), destroy };
}

/** Not connected yet. Brokers that are silent are given up until `destroy`. */
function makeCluster(connection: KafkaConnection, metadataMaxAge: number, isShared: boolean) {
  const { config, log, onThrottled = () => {} } = connection;
  const { clientId, tls, sasl } = config;
  const sockets = trackSockets(connection.socketFactory ?? framedSockets);
  const logger = createKafkajsLogger(log ? (text) => log('debug', text) : null);
  const cluster = new KafkaCluster({
    logger,
    socketFactory: sockets.factory,
    brokers: likelyAliveFirst(config.brokers, performance.now()),
    clientId,
    ssl: tls && tlsOptions(tls),
    sasl: sasl && saslOptions(sasl),
    connectionTimeout: CONNECTION_MS_MAX,
    requestTimeout: REQUEST_MS_MAX,
    enforceRequestTimeout: true,
    metadataMaxAge,
    retry: RETRY,
    onThrottled,
    ...(isShared && { pool: (makePair) => new SharedConnections(makePair) }),
  });
  const unwatch = watchSilentBrokers(cluster, sockets, listConfigured(connection));
  const destroy = () => {
    unwatch();
    sockets.destroy();
  };
  return { cluster, logger, sockets, destroy };
}

function listConfigured(connection: KafkaConnection): ListConfigured {
  const { config } = connection;
  return async (silent, topics) => {
    const names = new Set(silent.map(nameOf));
    const brokers = config.brokers.filter((name) => !names.has(name));
    if (brokers.length === 0) return null;
    const link = await linkCluster({ ...connection, config: { ...config, brokers } }, topics).catch(() => null);
    link?.destroy();
    return link && Object.values(link.cluster.brokerPool.brokers).map(({ connectionPool }) => connectionPool);
  };
}

/**
 * Waits for an orderly disconnect, DISCONNECT_MS_MAX at most: a broker that does not answer must not delay a shutdown.
 */
export async function disconnect(disconnecting: Promise<unknown>, destroy: () => void): Promise<void> {
  const late = new AbortController();
  await Promise.race([
    disconnecting.catch(() => undefined),
    sleep(DISCONNECT_MS_MAX, undefined, { signal: late.signal }).catch(() => undefined),
  ]);
  late.abort();
  destroy();
}

function saslOptions(sasl: SaslConfig): object {
  if (sasl.mechanism === 'oauthbearer') return oauthLogin(sasl);
  const { mechanism, username, password } = sasl;
  return { mechanism, username, password };
}

/**
 * TLS options of connections. Each new connection reads the PEM files again that have changed: certificates are
 * replaced before they expire, without a restart.
 */
export function tlsOptions({ ca, cert, key, rejectUnauthorized, files = {} }: NonNullable<KafkaConfig['tls']>) {
  const pems = { ca: changingPem(files.ca, ca), cert: changingPem(files.cert, cert), key: changingPem(files.key, key) };
  return {
    rejectUnauthorized,
    get ca() {
      return pems.ca();
    },
    get cert() {
      return pems.cert();
    },
    get key() {
      return pems.key();
    },
  };
}

/** The content of a file; the last one that could be read while it is missing or half-written. */
function changingPem(path: string | undefined, first: string | undefined): () => string | undefined {
  let content = first;
  let changedMs: number | null = null;
  return () => {
    if (path === undefined) return content;
    try {
      const { mtimeMs } = statSync(path);
      if (mtimeMs === changedMs) return content;
      const read = readFileSync(path, 'utf8');
      if (!read.includes('-----END ')) return content;
      changedMs = mtimeMs;
      content = read;
    } catch {
      // It is being replaced.
    }
    return content;
  };
}
