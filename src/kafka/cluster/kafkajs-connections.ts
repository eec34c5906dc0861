import type { Socket } from 'node:net';

/** The body of a request, under both names that kafkajs uses. */
export interface EncodedRequest {
  readonly buf: Buffer;
  readonly buffer: Buffer;
  readonly headroom?: Headroom;
}

/** A body is `whole` from `at` on. The bytes before it are free, for its header: then it is not copied. */
export interface Headroom {
  readonly whole: Buffer;
  readonly at: number;
}

/** A request as a connection sends it. `encode` resolves to the body after the header. */
export interface ProtocolRequest<Data> {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    encode(): Promise<EncodedRequest>;
  };
  readonly response: { decode(payload: Buffer): Promise<Data>; parse(data: Data): Promise<Data> };
  readonly requestTimeout?: number;
}

/** One connection to a broker. */
export interface BrokerConnection {
  readonly socket?: Socket;
  isConnected(): boolean;
  isAuthenticated(): boolean;
  authenticate(): Promise<void>;
  setVersions(versions: unknown): void;
  getSupportAuthenticationProtocol(): boolean | null;
  setSupportAuthenticationProtocol(isSupported: boolean): void;
  send<Data>(request: ProtocolRequest<Data>): Promise<Data>;
}

/** The connections to a broker, as kafkajs uses them. */
export interface BrokerConnections {
  readonly host: string;
  readonly port: number;
  rack: unknown;
  readonly sasl: unknown;
  readonly connectionTimeout: number;
  isConnected(): boolean;
  isAuthenticated(): boolean;
  setVersions(versions: unknown): void;
  setSupportAuthenticationProtocol(isSupported: boolean): void;
  /** While kafkajs connects to the broker. */
  getConnection(): Promise<Pick<BrokerConnection, 'getSupportAuthenticationProtocol' | 'authenticate'>>;
  send<Data>(request: ProtocolRequest<Data>): Promise<Data>;
  destroy(): Promise<void>;
}

/** kafkajs's own: a connection for fetches, and one for all else. */
export interface ConnectionPool extends BrokerConnections {
  /** Connects the one for all else. */
  getConnection(): Promise<BrokerConnection>;
}
