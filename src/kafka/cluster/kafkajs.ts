import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import kafkajs, { type Admin, type LogEntry, type logCreator, type RetryOptions } from 'kafkajs';
import type {
  BrokerConnection,
  BrokerConnections,
  BrokerPlace,
  ConnectionPair,
  EncodedRequest,
  ProtocolRequest,
  SocketFactory,
} from './broker-connection.ts';
import type { Broker, Cluster } from './cluster.ts';
import { fetchMetadata, METADATA, METADATA_VERSIONS } from './metadata-request.ts';

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

export const defaultSocketFactory = load('kafkajs/src/network/socketFactory.js') as () => SocketFactory;

const PROTOCOL_ERRORS = load('kafkajs/src/protocol/error.js') as { createErrorFromCode(code: number): Error };
const { KafkaJSProtocolError } = load('kafkajs/src/errors.js') as {
  KafkaJSProtocolError: new (of: { type: string; code: number; retriable: boolean; message: string }) => Error;
};
/** Is newer than kafkajs. */
const PRODUCER_FENCED = {
  type: 'PRODUCER_FENCED',
  code: 90,
  retriable: false,
  message: 'There is a newer producer with the same transactional id',
};

/** Its `type` is the protocol's name of the error. */
export function errorFromCode(code: number): Error {
  if (code === PRODUCER_FENCED.code) return new KafkaJSProtocolError(PRODUCER_FENCED);
  return PROTOCOL_ERRORS.createErrorFromCode(code);
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

interface PushedRequest {
  readonly entry: object;
  readonly expectResponse: boolean;
  readonly requestTimeout: number | null;
  sendRequest(): void;
}

interface KafkajsQueue {
  readonly throttledUntil: number;
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
  push(request: PushedRequest): void;
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
  /** What has come of the response that is read. */
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
  connect(): Promise<boolean>;
  failIfNotConnected(): void;
  nextCorrelationId(): number;
}

const KafkajsConnection = load('kafkajs/src/network/connection.js') as new (
  of: ConnectionSettings,
) => KafkajsConnection;

/** ApiVersions, SaslHandshake and SaslAuthenticate. */
const BEFORE_LOGIN = new Set([18, 17, 36]);

/** One connection to a broker. */
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
   * the last are left open. And the next connection goes on reading in the middle of the response that was cut off:
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

  /** As kafkajs does it, but a body with headroom is not copied. */
  override async send<Data>({ request, response, requestTimeout = undefined }: ProtocolRequest<Data>): Promise<Data> {
    const { apiKey, apiName, apiVersion } = request;
    if (!this.isAuthenticated() && !BEFORE_LOGIN.has(apiKey)) await this.authenticate();
    this.failIfNotConnected();
    const correlationId = this.nextCorrelationId();
    const bytes = frameRequest({ apiKey, apiVersion, correlationId, clientId: this.clientId }, await request.encode());
    const { payload } = await new Promise<{ readonly payload: Buffer }>((resolve, reject) => {
      this.failIfNotConnected();
      this.requestQueue.push({
        entry: { apiKey, apiName, apiVersion, correlationId, resolve, reject },
        expectResponse: true,
        requestTimeout: requestTimeout ?? null,
        sendRequest: () => void this.socket.write(bytes),
      });
    });
    const answer = await response.decode(payload);
    const { clientSideThrottleTime: throttledMs = 0 } = answer as { readonly clientSideThrottleTime?: number };
    this.requestQueue.maybeThrottle(throttledMs);
    if (throttledMs > 0) this.#onThrottled(throttledMs);
    return response.parse(answer);
  }
}

interface RequestHeader {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly correlationId: number;
  readonly clientId: string;
}

/** Size, api key, version, correlation id and client id of a request, and its body. */
export function frameRequest(header: RequestHeader, { buffer, headroom }: EncodedRequest): Buffer {
  const { apiKey, apiVersion, correlationId, clientId } = header;
  const headerBytes = 14 + Buffer.byteLength(clientId);
  const isInPlace = headroom !== undefined && headroom.at >= headerBytes;
  const framed = isInPlace
    ? headroom.whole.subarray(headroom.at - headerBytes)
    : Buffer.concat([Buffer.alloc(headerBytes), buffer]);
  framed.writeInt32BE(framed.length - 4);
  framed.writeInt16BE(apiKey, 4);
  framed.writeInt16BE(apiVersion, 6);
  framed.writeInt32BE(correlationId, 8);
  framed.writeInt16BE(headerBytes - 14, 12);
  framed.write(clientId, 14);
  return framed;
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
  /** Chooses the newest version that the broker knows. Throws before the connection is open. */
  lookupRequest<T>(
    apiKey: number,
    of: { readonly versions: readonly number[]; protocol(of: { readonly version: number }): T },
  ): T;
}

const KafkajsBroker = load('kafkajs/src/broker/index.js') as new (of: BrokerSettings) => KafkajsBroker;

/** With metadata that have leader epochs and topic ids, and that name what they can of partitions without a leader. */
class MetadataBroker extends KafkajsBroker {
  override async metadata(topics: readonly string[]) {
    const known = { versions: METADATA_VERSIONS, protocol: ({ version }: { readonly version: number }) => version };
    const metadata = await fetchMetadata(this, this.lookupRequest(METADATA, known), topics);
    const failed = metadata.topicMetadata.find(({ topicErrorCode }) => topicErrorCode !== 0);
    if (failed !== undefined) throw errorFromCode(failed.topicErrorCode);
    return metadata;
  }
}

export interface ClusterSettings extends Omit<ConnectionSettings, keyof BrokerPlace> {
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
  constructor({ pool = (makePair) => makePair(), ...settings }: ClusterSettings) {
    super({ ...settings, allowAutoTopicCreation: false, isolationLevel: READ_COMMITTED });
    let turn = 0;
    const nextConfigured = () => addressOf(settings.brokers[turn++ % settings.brokers.length]);
    this.brokerPool.createBroker = (of) => new MetadataBroker(of);
    this.brokerPool.connectionPoolBuilder = {
      build: async (to = nextConfigured()) => pool(() => new Connections({ ...settings, ...to })),
    };
  }
}

function addressOf(broker: string): BrokerPlace {
  const at = broker.lastIndexOf(':');
  return { host: broker.slice(0, at), port: Number(broker.slice(at + 1)) };
}

/** The client for administration, on connections of ours. */
export const createAdmin = load('kafkajs/src/admin/index.js') as (of: {
  readonly logger: KafkajsLogger;
  readonly cluster: Cluster;
  readonly retry: RetryOptions;
}) => Admin;
