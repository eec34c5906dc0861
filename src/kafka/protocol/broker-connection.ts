import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';

export type SocketFactory = (to: {
  readonly host: string;
  readonly port: number;
  readonly ssl: ConnectionOptions;
  onConnect(): void;
}) => Socket;

export interface EncodedRequest {
  readonly buffer: Buffer;
  readonly headroom?: Headroom;
}

/**
 * A body is `whole` from `at` on, and then `rest`. The bytes before it are free, for its header: then it is not copied.
 */
export interface Headroom {
  readonly whole: Buffer;
  readonly at: number;
  readonly rest?: readonly Buffer[];
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
  /** For an answer that takes longer than the others. */
  readonly requestTimeout?: number;
}

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

/** A broker's address, as metadata name it. */
export interface BrokerPlace {
  readonly host: string;
  readonly port: number;
  readonly rack?: unknown;
}

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
  /** While the broker is connected to. */
  getConnection(): Promise<Pick<BrokerConnection, 'getSupportAuthenticationProtocol' | 'authenticate'>>;
  send<Data>(request: ProtocolRequest<Data>): Promise<Data>;
  destroy(): Promise<void>;
}

/** A connection for fetches, and one for all else. */
export interface ConnectionPair extends BrokerConnections {
  /** Connects the one for all else. */
  getConnection(): Promise<BrokerConnection>;
}
