import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs, { type ISocketFactory, type Kafka, type KafkaConfig as KafkaJsConfig, type LogEntry } from 'kafkajs';
import type { KafkaConfig } from '../../../config/config.ts';
import {
  type Cluster,
  ClusterConstructor,
  type ClusterOptions,
  createLogger,
  defaultSocketFactory,
} from './kafkajs-internals.ts';

/** Bounds of one request. Whoever waits longer than that for Kafka tries again from the start. */
const connectionMsMax = 5_000;
const requestMsMax = 20_000;
const metadataAgeMsMax = 60_000;
/** Inside one request kafkajs tries a few times in short order; the patience for a broker that is away is ours. */
const retry = { initialRetryTime: 50, maxRetryTime: 500, retries: 3, multiplier: 2 };
/** How long an orderly end may take before its sockets are destroyed. */
const partingMsMax = 3_000;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** How to reach Kafka, and who listens. `socketFactory` is a seam for fault tests. */
export interface KafkaConnection {
  readonly config: KafkaConfig;
  readonly socketFactory?: ISocketFactory;
  readonly log?: (level: LogLevel, text: string, detail?: Readonly<Record<string, unknown>>) => void;
}

/** Connections that end together. */
export interface ClusterLink {
  readonly cluster: Cluster;
  /** Ends every connection at once; requests under way are rejected. */
  destroy(): void;
}

/**
 * Opens connections to the brokers; a later request opens them again when the broker closed them. Knows the given topics.
 * Throws kafkajs's errors.
 */
export async function linkCluster(connection: KafkaConnection, topics: readonly string[]): Promise<ClusterLink> {
  const sockets = trackSockets(connection.socketFactory ?? defaultSocketFactory());
  const { brokers, clientId, ssl, sasl } = clientOptions(connection);
  const options: ClusterOptions = {
    logger: createLogger({
      level: connection.log ? kafkajs.logLevel.INFO : kafkajs.logLevel.NOTHING,
      logCreator: logTo(connection),
    }),
    socketFactory: sockets.factory,
    brokers: [...brokers],
    clientId,
    ssl: ssl ?? null,
    sasl: sasl ?? null,
    connectionTimeout: connectionMsMax,
    requestTimeout: requestMsMax,
    enforceRequestTimeout: true,
    metadataMaxAge: metadataAgeMsMax,
    allowAutoTopicCreation: false,
    retry,
    isolationLevel: 1,
  };
  const cluster = new ClusterConstructor(options);
  try {
    await cluster.connect();
    await cluster.addMultipleTargetTopics(topics);
  } catch (error) {
    sockets.destroy();
    throw error;
  }
  return { cluster, destroy: sockets.destroy };
}

/** kafkajs's client, for group membership and administration. `destroy` ends its connections at once. */
export function kafkaClient(connection: KafkaConnection): { readonly kafka: Kafka; destroy(): void } {
  const sockets = trackSockets(connection.socketFactory ?? defaultSocketFactory());
  const kafka = new kafkajs.Kafka({
    ...clientOptions(connection),
    socketFactory: sockets.factory,
    connectionTimeout: connectionMsMax,
    requestTimeout: requestMsMax,
    retry,
    logLevel: connection.log ? kafkajs.logLevel.INFO : kafkajs.logLevel.NOTHING,
    logCreator: logTo(connection),
  });
  return { kafka, destroy: sockets.destroy };
}

/** Waits for an orderly end, but not for ever: a broker that does not answer must not hold up a shutdown. */
export async function partFrom(ending: Promise<unknown>, destroy: () => void): Promise<void> {
  const late = new AbortController();
  await Promise.race([
    ending.catch(() => undefined),
    sleep(partingMsMax, undefined, { signal: late.signal }).catch(() => undefined),
  ]);
  late.abort();
  destroy();
}

function clientOptions({ config }: KafkaConnection): KafkaJsConfig & { brokers: string[]; clientId: string } {
  const { tls, sasl } = config;
  return {
    brokers: [...config.brokers],
    clientId: config.clientId,
    ...(tls && {
      ssl: {
        rejectUnauthorized: tls.rejectUnauthorized,
        ...(tls.ca !== undefined && { ca: tls.ca }),
        ...(tls.cert !== undefined && { cert: tls.cert }),
        ...(tls.key !== undefined && { key: tls.key }),
      },
    }),
    ...(sasl && { sasl: saslOptions(sasl) }),
  };
}

function saslOptions({
  mechanism,
  username,
  password,
}: NonNullable<KafkaConfig['sasl']>): NonNullable<KafkaJsConfig['sasl']> {
  if (mechanism === 'plain') return { mechanism, username, password };
  if (mechanism === 'scram-sha-256') return { mechanism, username, password };
  return { mechanism, username, password };
}

/** kafkajs also logs as errors what is expected (a rebalance, a retry): all of it is detail to us. */
function logTo({ log }: KafkaConnection): () => (entry: LogEntry) => void {
  return () => (entry) => log?.('debug', `kafkajs ${entry.namespace}: ${entry.log.message}`);
}

/** A bare `socket.destroy()` goes unnoticed by kafkajs until the request's time-out; one with an error rejects at once. */
function trackSockets(factory: ISocketFactory): { readonly factory: ISocketFactory; readonly destroy: () => void } {
  const sockets = new Set<Socket>();
  let destroyed = false;
  const end = (socket: Socket) => socket.destroy(new Error('The connection was closed on our side'));
  return {
    factory: (args) => {
      const socket = factory(args);
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      // kafkajs attaches its listeners after this function has returned.
      if (destroyed) setImmediate(end, socket);
      return socket;
    },
    destroy: () => {
      destroyed = true;
      for (const socket of sockets) end(socket);
    },
  };
}
