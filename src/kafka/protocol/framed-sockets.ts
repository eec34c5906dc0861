import { isIP, type OnReadOpts, connect as openPlain, type Socket } from 'node:net';
import { connect as openTls } from 'node:tls';
import { takeBatch } from '../batch/reused-bytes.ts';
import type { SocketFactory } from './broker-connection.ts';

/** The event of a socket that a part of a response has arrived. `data` follows once it is whole. */
export const PART_ARRIVED = 'part';

const KEEP_ALIVE_MS = 60_000;
/** Longer responses have bytes of their own. */
const START_BYTES = 16 * 1024;
const SIZE_BYTES = 4;
/** A larger size is none: what answers is not Kafka. */
const RESPONSE_BYTES_MAX = 2 ** 30;

/**
 * Opens sockets whose `data` are whole responses, each with its size. The system writes a large response to where it
 * stays, and whoever has read it gives the bytes back (`giveBackBatch`). Node and kafkajs take new memory for each part
 * and for the whole: its pages took a sixth of the processor time of a restore.
 */
export const framedSockets: SocketFactory = ({ host, port, ssl, onConnect }) => {
  const reader = new ResponseReader();
  const deliver = (bytes: number) => {
    socket.emit(PART_ARRIVED);
    try {
      for (const response of reader.received(bytes)) socket.emit('data', response);
    } catch (error) {
      socket.destroy(error as Error);
    }
    return true;
  };
  const onread: OnReadOpts = { buffer: () => reader.room, callback: deliver };
  const to = { host, port, onread };
  const named = isIP(host) === 0 ? { servername: host } : {};
  const socket: Socket = ssl ? openTls({ ...to, ...named, ...ssl }, onConnect) : openPlain(to, onConnect);
  return socket.setKeepAlive(true, KEEP_ALIVE_MS);
};

/** Divides what a broker sends into its responses. */
export class ResponseReader {
  readonly #start = Buffer.allocUnsafeSlow(START_BYTES);
  /** The response that arrives, if it is longer than `#start`. */
  #long: Buffer | null = null;
  /** Bytes that are there of `#long`, or in `#start`. */
  #length = 0;

  /** Room for the next bytes. */
  get room(): Buffer {
    return (this.#long ?? this.#start).subarray(this.#length);
  }

  /** So many bytes were written. Yields the responses that are complete now; throws behind them if there is none. */
  *received(bytes: number): Generator<Buffer> {
    this.#length += bytes;
    const [start, long] = [this.#start, this.#long];
    if (long !== null && this.#length < long.length) return;
    if (long !== null) {
      [this.#long, this.#length] = [null, 0];
      yield long;
      return;
    }
    let at = 0;
    while (this.#length - at >= SIZE_BYTES) {
      const end = at + SIZE_BYTES + sizeAt(start, at);
      if (end > this.#length) {
        if (end - at > START_BYTES) this.#long = takeBatch(end - at);
        break;
      }
      yield Buffer.from(start.subarray(at, end));
      at = end;
    }
    start.copy(this.#long ?? start, 0, at, this.#length);
    this.#length -= at;
  }
}

function sizeAt(bytes: Buffer, at: number): number {
  const size = bytes.readInt32BE(at);
  if (size >= 0 && size <= RESPONSE_BYTES_MAX) return size;
  throw new Error(`A response of ${size} bytes was announced: this is no Kafka broker, or another kind of listener`);
}
