import type {
  BrokerConnection,
  BrokerConnections,
  ConnectionPair,
  ProtocolRequest,
} from '../protocol/broker-connection.ts';

/** A broker works on one request of a connection at a time, so each request in flight has a connection of its own. */
const CONNECTIONS = 8;
const FETCH_CONNECTIONS = 4;
/**
 * A request that takes longer than this, and than SLOW_TIMES the usual, is slow: another connection may be opened in
 * its place. Where all take long, the broker is busy, and more connections would not help.
 */
const SLOW_MS = 200;
const SLOW_TIMES = 4;
/** Share of a new duration in the usual one, and what is added to the largest that counts in full. */
const USUAL_SHARE = 1 / 16;
const USUAL_MS_MIN = 10;
/** Connections of one kind to one broker, slow ones included. Further requests wait. */
const CONNECTIONS_MAX = 128;
/** kafkajs takes any connected broker for metadata. One that hangs must not hold up those that wait for leaders. */
const METADATA_MS_MAX = 5_000;

const FETCH = 1;
const METADATA = 3;
/**
 * Sent first over each connection, and answered at once: a broker that does not answer it is gone (see
 * silent-brokers.ts).
 */
const API_VERSIONS: ProtocolRequest<{ readonly clientSideThrottleTime: number }> = {
  request: {
    apiKey: 18,
    apiVersion: 0,
    apiName: 'ApiVersions',
    encode: async () => ({ buffer: Buffer.alloc(0) }),
  },
  response: { decode: async () => ({ clientSideThrottleTime: 0 }), parse: async (answer) => answer },
};

/**
 * The connections to one broker that the sessions of a worker share; it replaces kafkajs's own pool of two. There
 * are as many as requests in flight, CONNECTIONS at most, and as many more as brokers are slow to answer: a produce
 * request that waits for a slow replica delays no other request. Fetches have connections of their own.
 *
 * A connection that failed is not used again: kafkajs would continue reading in the middle of a response.
 */
export class SharedConnections implements BrokerConnections {
  readonly host: string;
  readonly port: number;
  rack: unknown;
  readonly sasl: unknown;
  readonly connectionTimeout: number;
  readonly #requests: Lanes;
  readonly #fetches: Lanes;
  #versions: unknown = null;
  /** True if these versions are those of the running broker. */
  #isKnown = false;
  #supportsAuthentication: boolean | null = null;

  /** @param make makes a pair, of which the first connection is used */
  constructor(make: () => ConnectionPair) {
    const first = make();
    this.host = first.host;
    this.port = first.port;
    this.rack = first.rack;
    this.sasl = first.sasl;
    this.connectionTimeout = first.connectionTimeout;
    const open = async () => {
      // It may have been restarted in another version.
      if (!this.#isOpen()) this.#isKnown = false;
      const connection = await make().getConnection();
      if (this.#versions !== null) connection.setVersions(this.#versions);
      if (this.#supportsAuthentication !== null) {
        connection.setSupportAuthenticationProtocol(this.#supportsAuthentication);
      }
      // A login is answered at once as well, and allows one such question only.
      if (!this.sasl) await connection.send(API_VERSIONS);
      return connection;
    };
    this.#requests = new Lanes(open, CONNECTIONS);
    this.#fetches = new Lanes(open, FETCH_CONNECTIONS);
  }

  /** kafkajs takes a broker for ready once this holds. Before its versions are known, requests to it fail. */
  isConnected(): boolean {
    return this.#isKnown && this.#requests.some((connection) => connection.isConnected());
  }

  #isOpen(): boolean {
    return [this.#requests, this.#fetches].some((lanes) => lanes.some((connection) => connection.isConnected()));
  }

  isAuthenticated(): boolean {
    return this.#requests.some((connection) => connection.isAuthenticated());
  }

  setVersions(versions: unknown): void {
    this.#versions = versions;
    this.#isKnown = true;
    for (const connection of [...this.#requests, ...this.#fetches]) connection.setVersions(versions);
  }

  setSupportAuthenticationProtocol(isSupported: boolean): void {
    this.#supportsAuthentication = isSupported;
    for (const connection of [...this.#requests, ...this.#fetches]) {
      connection.setSupportAuthenticationProtocol(isSupported);
    }
  }

  /** Methods that kafkajs calls on a connection while it connects to the broker. */
  async getConnection(): Promise<Pick<BrokerConnection, 'getSupportAuthenticationProtocol' | 'authenticate'>> {
    await this.#requests.use(async () => undefined);
    return {
      getSupportAuthenticationProtocol: () => this.#supportsAuthentication,
      authenticate: () => this.#requests.use((connection) => connection.authenticate()),
    };
  }

  send<Data>(request: ProtocolRequest<Data>): Promise<Data> {
    const { apiKey } = request.request;
    const lanes = apiKey === FETCH ? this.#fetches : this.#requests;
    return lanes.use((connection) => connection.send(request), apiKey === METADATA ? METADATA_MS_MAX : null);
  }

  /** Rejects the requests in flight. Further ones connect again. */
  async destroy(): Promise<void> {
    this.#requests.close();
    this.#fetches.close();
  }
}

interface Lane {
  /** null before it is open, and after it failed. */
  connection: BrokerConnection | null;
  /** Time when the request in flight began; null: it is idle. */
  busySinceMs: number | null;
}

/** Connections of one kind, each with one request in flight at most. */
class Lanes implements Iterable<BrokerConnection> {
  readonly #open: () => Promise<BrokerConnection>;
  readonly #count: number;
  #lanes: Lane[] = [];
  #waiting: PromiseWithResolvers<Lane>[] = [];
  #look: NodeJS.Timeout | null = null;
  #usualMs = 0;

  constructor(open: () => Promise<BrokerConnection>, count: number) {
    this.#open = open;
    this.#count = count;
  }

  *[Symbol.iterator](): Iterator<BrokerConnection> {
    for (const { connection } of this.#lanes) if (connection !== null) yield connection;
  }

  some(holds: (connection: BrokerConnection) => boolean): boolean {
    return [...this].some(holds);
  }

  /** Does something with a connection of its own. After `msMax` the connection is closed, which ends what it does. */
  async use<T>(work: (connection: BrokerConnection) => Promise<T>, msMax: number | null = null): Promise<T> {
    const lane = this.#acquire() ?? (await this.#wait());
    const late = msMax === null ? undefined : setTimeout(() => close(lane), msMax);
    try {
      if (lane.connection?.isConnected() !== true) lane.connection = await this.#open();
      return await work(lane.connection);
    } catch (error) {
      // A time-out leaves a connection open whose broker is stuck.
      if ((error as Error).name === 'KafkaJSRequestTimeoutError') close(lane);
      throw error;
    } finally {
      clearTimeout(late);
      this.#release(lane);
    }
  }

  close(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(closedHere());
    for (const lane of this.#lanes) close(lane);
  }

  /** An idle connection, or a new one; null if a request has to wait. */
  #acquire(): Lane | null {
    const nowMs = performance.now();
    // The first ones, so that few are in use.
    let lane = this.#lanes.find(({ busySinceMs }) => busySinceMs === null);
    if (lane === undefined && this.#lanes.length < this.#allowed(nowMs)) {
      lane = { connection: null, busySinceMs: nowMs };
      this.#lanes.push(lane);
    }
    if (lane === undefined) return null;
    lane.busySinceMs = nowMs;
    return lane;
  }

  #allowed(nowMs: number): number {
    const slowMs = Math.max(SLOW_MS, SLOW_TIMES * this.#usualMs);
    const isSlow = ({ busySinceMs }: Lane) => busySinceMs !== null && nowMs - busySinceMs > slowMs;
    return Math.min(this.#count + this.#lanes.filter(isSlow).length, CONNECTIONS_MAX);
  }

  #wait(): Promise<Lane> {
    this.#look ??= setTimeout(() => this.#serveWaiting(), SLOW_MS / 4);
    const waiting = Promise.withResolvers<Lane>();
    this.#waiting.push(waiting);
    return waiting.promise;
  }

  /** Connections that have become slow make room for others. */
  #serveWaiting(): void {
    this.#look = null;
    while (this.#waiting.length > 0) {
      const lane = this.#acquire();
      if (lane === null) {
        this.#look = setTimeout(() => this.#serveWaiting(), SLOW_MS / 4);
        return;
      }
      this.#waiting.shift()?.resolve(lane);
    }
  }

  #release(lane: Lane): void {
    const nowMs = performance.now();
    // Slow ones must not make each other look usual.
    const tookMs = Math.min(nowMs - (lane.busySinceMs ?? nowMs), 2 * this.#usualMs + USUAL_MS_MIN);
    this.#usualMs += USUAL_SHARE * (tookMs - this.#usualMs);
    const next = this.#waiting.shift();
    lane.busySinceMs = next === undefined ? null : nowMs;
    if (next !== undefined) next.resolve(lane);
    else if (this.#lanes.length > this.#allowed(nowMs)) {
      close(lane);
      this.#lanes = this.#lanes.filter((other) => other !== lane);
    }
  }
}

/** With an error: kafkajs notices a bare `destroy()` only at the time-out of a request. */
function close(lane: Lane): void {
  lane.connection?.socket?.destroy(closedHere());
  lane.connection = null;
}

function closedHere(): Error {
  return Object.assign(new Error('The connection was closed on our side'), { name: 'KafkaJSConnectionError' });
}
