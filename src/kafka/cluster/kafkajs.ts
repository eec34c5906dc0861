import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import kafkajs, { type Admin, type LogEntry, type logCreator, type RetryOptions } from 'kafkajs';
import { fetchVersions } from '../protocol/api-versions.ts';
import type {
  BrokerConnection,
  BrokerConnections,
  BrokerPlace,
  ConnectionPair,
  ProtocolRequest,
  SocketFactory,
} from '../protocol/broker-connection.ts';
import { fetchMetadata } from '../protocol/metadata-request.ts';
import type { Broker, Cluster, Permission } from '../protocol/protocol-request.ts';
import { frameRequest, writeTogether } from '../protocol/request-frame.ts';
import { addressNamed } from './given-up.ts';

/**
 * All that is used of kafkajs (2.2.4, pinned), which nothing else imports: sockets, handshake and SASL; the cluster
 * with its metadata; the client for administration. Nothing of it is replaced: where it has a fault, or lacks
 * something, a class below extends its own.
 */
const load = createRequire(import.meta.url);

export type { Admin, ITopicConfig as TopicConfig } from 'kafkajs';
export const TOPIC_RESOURCE = kafkajs.ConfigResourceTypes.TOPIC;

interface KafkajsLogger {
  namespace(name: string): KafkajsLogger;
}

/** kafkajs logs expected events as errors (a rebalance, a retry), so its levels are not passed on. */
export function createKafkajsLogger(log: ((text: string) => void) | null): KafkajsLogger {
  const { createLogger } = load('kafkajs/src/loggers/index.js') as {
    createLogger(of: { level: number; logCreator: logCreator }): KafkajsLogger;
  };
  const logCreator = () => (entry: LogEntry) => log?.(`kafkajs ${entry.namespace}: ${entry.log.message}`);
  return createLogger({ level: log === null ? kafkajs.logLevel.NOTHING : kafkajs.logLevel.INFO, logCreator });
}

const PROTOCOL_ERRORS = load('kafkajs/src/protocol/error.js') as { createErrorFromCode(code: number): Error };
/** Types and texts of codes that are newer than kafkajs. */
const NEWER_ERRORS: ReadonlyMap<number, readonly [string, string]> = new Map([
  [90, ['PRODUCER_FENCED', 'There is a newer producer with the same transactional id']],
  [120, ['TRANSACTION_ABORTABLE', 'The broker refuses this transaction; it has to be aborted']],
]);

/** Its `type` is the protocol's name of the error, and `needed` what the request needs. */
export function errorFromCode(code: number, ...needed: Permission | []): Error {
  const [type, message = ''] = NEWER_ERRORS.get(code) ?? [];
  if (type === undefined) return Object.assign(PROTOCOL_ERRORS.createErrorFromCode(code), { needed });
  return Object.assign(new Error(message), { name: 'KafkaJSProtocolError', type, code, retriable: false, needed });
}

interface ConnectionSettings extends BrokerPlace {
  readonly logger: KafkajsLogger;
  readonly socketFactory: SocketFactory;
  readonly clientId: string;
  readonly ssl: unknown;
  readonly sasl: unknown;
  readonly connectionTimeout: number;
  readonly requestTimeout: number;
  readonly enforceRequestTimeout: boolean;
  /** A quota of the brokers delays this client by so much. */
  readonly onThrottled: (ms: number) => void;
}

interface KafkajsQueue {
  readonly throttledUntil: number;
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
  push(request: {
    readonly entry: object;
    readonly expectResponse: boolean;
    readonly requestTimeout: number | null;
    sendRequest(): void;
  }): void;
  maybeThrottle(ms: number): void;
}

const KafkajsQueue = load('kafkajs/src/network/requestQueue/index.js') as new (of: object) => KafkajsQueue;

/**
 * After every response kafkajs sets a timer that checks for delayed requests. Without throttling the delay of the timer
 * is a large negative number, and Node 24 warns about it each time. No request is delayed then, so no timer is needed.
 */
class RequestQueue extends KafkajsQueue {
  override scheduleCheckPendingRequests(): void {
    if (this.pending.length > 0 || this.throttledUntil > Date.now()) super.scheduleCheckPendingRequests();
  }
}

interface KafkajsConnection extends BrokerConnection {
  socket: Socket;
  requestQueue: KafkajsQueue;
  readonly broker: string;
  readonly clientId: string;
  readonly connectionTimeout: number;
  /** The part of the response that has arrived. */
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
  processData(bytes: Buffer): void;
  connect(): Promise<boolean>;
  failIfNotConnected(): void;
  nextCorrelationId(): number;
}

const KafkajsConnection = load('kafkajs/src/network/connection.js') as new (
  of: ConnectionSettings,
) => KafkajsConnection;

/** ApiVersions, SaslHandshake and SaslAuthenticate. */
const BEFORE_LOGIN = new Set([18, 17, 36]);

class Connection extends KafkajsConnection {
  readonly #onThrottled: (ms: number) => void;
  #connecting: Promise<boolean> | null = null;

  constructor(settings: ConnectionSettings) {
    super(settings);
    this.#onThrottled = settings.onThrottled;
    const logger = settings.logger.namespace('RequestQueue');
    const isConnected = () => this.isConnected();
    this.requestQueue = new RequestQueue({ ...settings, logger, broker: this.broker, isConnected });
  }

  /**
   * Two faults of kafkajs. Requests that come together after a lost connection open a socket each, and all sockets but
   * the last are left open. And the next connection continues reading in the middle of the response that was cut off:
   * nothing is understood any more, and every request waits for its time-out.
   */
  override connect(): Promise<boolean> {
    if (this.isConnected()) return Promise.resolve(true);
    if (this.#connecting !== null) return this.#connecting;
    Object.assign(this, { chunks: [], bytesBuffered: 0, bytesNeeded: 4 });
    const forget = () => {
      this.#connecting = null;
    };
    // kafkajs may leave its promise pending where the peer ends the connection at once.
    const late = setTimeout(forget, 2 * this.connectionTimeout).unref();
    this.#connecting = super.connect().finally(() => {
      clearTimeout(late);
      forget();
    });
    return this.#connecting;
  }

  /** kafkajs keeps the empty rest of a response, and would copy the next one behind it. */
  override processData(bytes: Buffer): void {
    if (this.bytesBuffered === 0) this.chunks = [];
    super.processData(bytes);
  }

  /** As kafkajs does it, but a body with headroom is not copied. */
  override async send<Data>({ request, response, requestTimeout = undefined }: ProtocolRequest<Data>): Promise<Data> {
    const { apiKey, apiName, apiVersion } = request;
    if (!this.isAuthenticated() && !BEFORE_LOGIN.has(apiKey)) await this.authenticate();
    this.failIfNotConnected();
    const correlationId = this.nextCorrelationId();
    const parts = frameRequest({ apiKey, apiVersion, correlationId, clientId: this.clientId }, await request.encode());
    const { payload } = await new Promise<{ readonly payload: Buffer }>((resolve, reject) => {
      this.failIfNotConnected();
      this.requestQueue.push({
        entry: { apiKey, apiName, apiVersion, correlationId, resolve, reject },
        expectResponse: true,
        requestTimeout: requestTimeout ?? null,
        sendRequest: () => writeTogether(this.socket, parts),
      });
    });
    const answer = await response.decode(payload);
    const { clientSideThrottleTime: throttledMs = 0 } = answer as { readonly clientSideThrottleTime?: number };
    this.requestQueue.maybeThrottle(throttledMs);
    if (throttledMs > 0) this.#onThrottled(throttledMs);
    return response.parse(answer);
  }
}

interface KafkajsPair extends ConnectionPair {
  pool: BrokerConnection[];
}

const KafkajsPair = load('kafkajs/src/network/connectionPool.js') as new (of: ConnectionSettings) => KafkajsPair;

class Connections extends KafkajsPair {
  constructor(settings: ConnectionSettings) {
    super(settings);
    this.pool = this.pool.map(() => new Connection(settings));
  }
}

interface BrokerSettings {
  readonly connectionPool: BrokerConnections;
}

interface KafkajsBroker extends Broker {
  readonly lock: { acquire(): Promise<void>; release(): Promise<void> };
  readonly connectionPool: BrokerConnections;
  versions: Broker['versions'];
  lookupRequest: unknown;
  isConnected(): boolean;
}

const KafkajsBroker = load('kafkajs/src/broker/index.js') as new (of: BrokerSettings) => KafkajsBroker;
/** It finds the newest version that kafkajs and the broker know of a request that kafkajs sends itself. */
const { lookup } = load('kafkajs/src/protocol/requests/index.js') as { lookup(known: Broker['versions']): unknown };

/**
 * With metadata that have leader epochs and topic ids, and that name what they can of partitions without a leader. It
 * notices when the broker is another version than before.
 */
class MetadataBroker extends KafkajsBroker {
  readonly #onFeatures: (features: ReadonlyMap<string, number>) => void;

  constructor(of: BrokerSettings, onFeatures: (features: ReadonlyMap<string, number>) => void) {
    super(of);
    this.#onFeatures = onFeatures;
  }

  /** kafkajs asks one broker once what it knows, and believes it of all of them for ever. */
  override async connect(): Promise<void> {
    await this.lock.acquire();
    try {
      if (this.isConnected()) return;
      const isNew = !this.connectionPool.isConnected();
      const connection = await this.connectionPool.getConnection();
      // Not where a login is only renewed: a connection whose login has expired allows no question.
      if (isNew || this.versions === null) await this.#ask();
      // Since Kafka 1.0.
      this.connectionPool.setSupportAuthenticationProtocol(true);
      await connection.authenticate();
    } finally {
      await this.lock.release();
    }
  }

  async #ask(): Promise<void> {
    const { errorCode, versions, features } = await fetchVersions(this, this.connectionPool.connectionTimeout);
    if (errorCode !== 0) throw errorFromCode(errorCode);
    this.versions = versions;
    this.connectionPool.setVersions(versions);
    this.lookupRequest = lookup(versions);
    this.#onFeatures(features);
  }

  override async metadata(topics: readonly string[]) {
    const metadata = await fetchMetadata(this, topics);
    // Features change while brokers run. Not awaited, because nothing depends on them.
    this.#ask().catch(() => undefined);
    const failed = metadata.topicMetadata.find(({ topicErrorCode }) => topicErrorCode !== 0);
    if (failed !== undefined) throw errorFromCode(failed.topicErrorCode, 'Describe', 'topic', failed.topic ?? '');
    return metadata;
  }
}

interface ClusterSettings extends Omit<ConnectionSettings, keyof BrokerPlace> {
  /** `host:port` */
  readonly brokers: readonly string[];
  readonly metadataMaxAge: number;
  readonly retry: RetryOptions;
  /** The connections to a broker, where they are not just a pair. */
  readonly pool?: (makePair: () => ConnectionPair) => BrokerConnections;
}

interface KafkajsPool {
  readonly brokers: Readonly<Record<string, Broker>>;
  connectionPoolBuilder: { build(to?: BrokerPlace): Promise<BrokerConnections> };
  createBroker: (of: BrokerSettings) => Broker;
}

interface KafkajsCluster extends Cluster {
  readonly brokerPool: KafkajsPool;
}

const READ_COMMITTED = 1;
const KafkajsCluster = load('kafkajs/src/cluster/index.js') as new (of: object) => KafkajsCluster;

export class KafkaCluster extends KafkajsCluster {
  override features: ReadonlyMap<string, number> = new Map();

  constructor({ pool = (makePair) => makePair(), ...settings }: ClusterSettings) {
    super({ ...settings, allowAutoTopicCreation: false, isolationLevel: READ_COMMITTED });
    let turn = 0;
    const nextConfigured = () => addressNamed(settings.brokers[turn++ % settings.brokers.length]);
    this.brokerPool.createBroker = (of) =>
      new MetadataBroker(of, (features) => {
        this.features = features;
      });
    this.brokerPool.connectionPoolBuilder = {
      build: async (to = nextConfigured()) => pool(() => new Connections({ ...settings, ...to })),
    };
  }
}

/** The client for administration, on connections of ours. */
export const createAdmin = load('kafkajs/src/admin/index.js') as (of: {
  readonly logger: KafkajsLogger;
  readonly cluster: Cluster;
  readonly retry: RetryOptions;
}) => Admin;
