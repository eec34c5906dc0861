import { createRequire } from 'node:module';
import type { Headroom } from './kafkajs-connections.ts';

/** Faults of kafkajs (2.2.4, pinned) that are mended in place. */
const load = createRequire(import.meta.url);

interface RequestQueue {
  readonly throttledUntil: number;
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

/**
 * After every response kafkajs sets a timer that checks for delayed requests. Without throttling the delay of the
 * timer is a large negative number, and Node 24 warns about it each time. No request is delayed then, so no timer is
 * needed.
 */
const queue = (load('kafkajs/src/network/requestQueue/index.js') as { readonly prototype: RequestQueue }).prototype;
const schedule = queue.scheduleCheckPendingRequests;
queue.scheduleCheckPendingRequests = function (this: RequestQueue): void {
  if (this.pending.length > 0 || this.throttledUntil > Date.now()) schedule.call(this);
};

interface Encoder {
  buf: Buffer;
  offset: number;
  headroom?: Headroom;
  writeEncoder(value: { readonly headroom?: Headroom }): Encoder;
}

/**
 * kafkajs copies the body of a request behind its header, and both behind their size. A body with headroom stays where
 * it is, and what belongs before it is written there.
 */
const encoder = (load('kafkajs/src/protocol/encoder.js') as { readonly prototype: Encoder }).prototype;
const writeEncoder = encoder.writeEncoder;
encoder.writeEncoder = function (this: Encoder, value: { readonly headroom?: Headroom }): Encoder {
  const { headroom } = value;
  if (headroom === undefined || headroom.at < this.offset) return writeEncoder.call(this, value);
  const { whole } = headroom;
  const at = headroom.at - this.offset;
  this.buf.copy(whole, at, 0, this.offset);
  this.buf = whole.subarray(at);
  this.offset = this.buf.length;
  this.headroom = { whole, at };
  return this;
};

interface Connection {
  isConnected(): boolean;
  connect(): Promise<boolean>;
  readonly connectionTimeout: number;
  /** What has come of the response that is read. */
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
}

/**
 * Two faults of kafkajs. Requests that come together after a lost connection open a socket each, and all sockets but
 * the last are left open. And the next connection goes on reading in the middle of the response that was cut off:
 * nothing is understood any more, and every request waits for its time-out.
 */
const connection = (load('kafkajs/src/network/connection.js') as { readonly prototype: Connection }).prototype;
const connect = connection.connect;
const connecting = new WeakMap<Connection, Promise<boolean>>();
connection.connect = function (this: Connection): Promise<boolean> {
  if (this.isConnected()) return Promise.resolve(true);
  const pending = connecting.get(this);
  if (pending !== undefined) return pending;
  Object.assign(this, { chunks: [], bytesBuffered: 0, bytesNeeded: 4 });
  const forget = () => void connecting.delete(this);
  // kafkajs may leave its promise pending where the peer ends the connection at once.
  const late = setTimeout(forget, 2 * this.connectionTimeout).unref();
  const opened = connect.call(this).finally(() => {
    clearTimeout(late);
    forget();
  });
  connecting.set(this, opened);
  return opened;
};
