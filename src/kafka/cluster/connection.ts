import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions } from 'node:tls';
import kafkajs, { type Admin, type ISocketFactory, type KafkaConfig as KafkaJsConfig, type LogEntry } from 'kafkajs';
import type { KafkaConfig, SaslConfig } from '../../config/config.ts';
import { shareConnections } from './connection-pool.ts';
import { likelyAliveFirst, nameOf } from './given-up.ts';
import {
  type Broker,
  type Cluster,
  ClusterConstructor,
  type ClusterOptions,
  createAdmin,
  createKafkajsLogger,
  defaultSocketFactory,
} from './kafkajs-internals.ts';
import { oauthLogin } from './oauth-login.ts';
import { type AskConfigured, watchSilentBrokers } from './silent-brokers.ts';
import { tlsOptions } from './tls-options.ts';
import { trackSockets } from './tracked-sockets.ts';

/** Time-outs of one request. The callers retry. */
export const CONNECTION_MS_MAX = 5_000;
export const REQUEST_MS_MAX = 20_000;
const METADATA_AGE_MS_MAX = 60_000;
/** Retries of kafkajs within one request: few and short. Retries while a broker is out of reach are ours. */
const RETRY = { initialRetryTime: 50, maxRetryTime: 500, retries: 3, multiplier: 2 };
/** After this time a disconnect destroys the sockets. */
const DISCONNECT_MS_MAX = 3_000;

export type ClientLogLevel = 'debug' | 'info' | 'warn' | 'error';

/** How Kafka is reached, and where the client logs. Fault tests set `socketFactory`. */
export interface KafkaConnection {
  readonly config: KafkaConfig;
  readonly socketFactory?: ISocketFactory;
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
  const { cluster, sockets, destroy } = makeCluster(connection, METADATA_AGE_MS_MAX);
  if (isShared) shareConnections(cluster);
  try {
    await cluster.connect();
    await cluster.addMultipleTargetTopics(topics);
  } catch (error) {
    destroy();
    throw error;
  }
  return { cluster, dropBroker: ({ connectionPool }) => sockets.drop(connectionPool), destroy };
}

/** kafkajs's client for administration. `destroy` closes its connections at once. */
export function adminClient(connection: KafkaConnection): { readonly admin: Admin; destroy(): void } {
  // It looks at the metadata anew before each use.
  const { cluster, logger, destroy } = makeCluster(connection, 0);
  return { admin: createAdmin({ logger, cluster, retry: RETRY }), destroy };
}

/** Not connected yet. Brokers that are silent are given up until `destroy`. */
function makeCluster(connection: KafkaConnection, metadataMaxAge: number) {
  const sockets = trackSockets(connection.socketFactory ?? defaultSocketFactory());
  const { brokers, clientId, ssl, sasl } = clientOptions(connection);
  const logger = createKafkajsLogger({
    level: connection.log ? kafkajs.logLevel.INFO : kafkajs.logLevel.NOTHING,
    logCreator: logTo(connection),
  });
  const options: ClusterOptions = {
    logger,
    socketFactory: sockets.factory,
    brokers: [...brokers],
    clientId,
    ssl: ssl ?? null,
    sasl: sasl ?? null,
    connectionTimeout: CONNECTION_MS_MAX,
    requestTimeout: REQUEST_MS_MAX,
    enforceRequestTimeout: true,
    metadataMaxAge,
    allowAutoTopicCreation: false,
    retry: RETRY,
    isolationLevel: 1,
  };
  const cluster = new ClusterConstructor(options);
  const unwatch = watchSilentBrokers(cluster, sockets, askConfigured(connection));
  const destroy = () => {
    unwatch();
    sockets.destroy();
  };
  return { cluster, logger, sockets, destroy };
}

function askConfigured(connection: KafkaConnection): AskConfigured {
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

function clientOptions({ config }: KafkaConnection): KafkaJsConfig & { brokers: string[]; clientId: string } {
  const { tls, sasl } = config;
  return {
    brokers: likelyAliveFirst(config.brokers, performance.now()),
    clientId: config.clientId,
    ...(tls && { ssl: tlsOptions(tls) as ConnectionOptions }),
    ...(sasl && { sasl: saslOptions(sasl) }),
  };
}

function saslOptions(sasl: SaslConfig): NonNullable<KafkaJsConfig['sasl']> {
  if (sasl.mechanism === 'oauthbearer') return oauthLogin(sasl);
  const { mechanism, username, password } = sasl;
  if (mechanism === 'plain') return { mechanism, username, password };
  if (mechanism === 'scram-sha-256') return { mechanism, username, password };
  return { mechanism, username, password };
}

/** kafkajs logs expected events as errors (a rebalance, a retry). So every entry is logged at level `debug`. */
function logTo({ log }: KafkaConnection): () => (entry: LogEntry) => void {
  return () => (entry) => log?.('debug', `kafkajs ${entry.namespace}: ${entry.log.message}`);
}
