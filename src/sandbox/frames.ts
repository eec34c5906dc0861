/**
 * The transport between a sandbox and its child, by hand instead of workerpool 10.0: that deserializes a message of any
 * size in the parent. Of an output of 512 MiB with a limit of 64 MiB the parent needs 73 MB here (it is refused by its
 * header), and 1,086 MB there. 40 outputs of 16 MiB cost 1.6 s of processor time here, and 1.3 s there.
 */
import assert from 'node:assert/strict';

/** Kinds of frames. To the child: `setup`, `input`, `stop`. From it: `ready`, `progress`, `output`, `problem`. */
const KINDS = ['setup', 'input', 'stop', 'ready', 'progress', 'output', 'problem'] as const;
export type FrameKind = (typeof KINDS)[number];

export interface Frame {
  readonly kind: FrameKind;
  readonly payload: Buffer;
}

/** One byte for the kind, four for the length of the payload (big endian), then the payload. */
const HEADER_BYTES = 5;

/** The header and the payload of a frame, to be written in this order. The payload is not copied. */
export function frameBytes(kind: FrameKind, payload: Uint8Array = new Uint8Array()): [Buffer, Uint8Array] {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(KINDS.indexOf(kind));
  header.writeUInt32BE(payload.length, 1);
  return [header, payload];
}

type FrameReading =
  | { readonly kind: 'frames'; readonly frames: readonly Frame[] }
  /** A frame above the limit; nothing after it can be read. */
  | { readonly kind: 'too-large'; readonly bytes: number }
  /** Not a frame. */
  | { readonly kind: 'unreadable' };

/** Reassembles frames from chunks. Buffers at most one payload of `payloadBytesMax`. */
export class FrameReader {
  readonly #payloadBytesMax: number;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #payload: Buffer | null = null;
  #payloadBytes = 0;

  constructor(payloadBytesMax: number) {
    this.#payloadBytesMax = payloadBytesMax;
  }

  accept(chunk: Buffer): FrameReading {
    const frames: Frame[] = [];
    let at = 0;
    while (at < chunk.length || this.#payload?.length === 0) {
      if (this.#payload === null) {
        at += this.#readHeader(chunk, at);
        if (this.#headerBytes < HEADER_BYTES) break;
        if (this.#header[0] >= KINDS.length) return { kind: 'unreadable' };
        const bytes = this.#header.readUInt32BE(1);
        if (bytes > this.#payloadBytesMax) return { kind: 'too-large', bytes };
        this.#payload = Buffer.allocUnsafeSlow(bytes);
        this.#payloadBytes = 0;
      }
      const copied = chunk.copy(this.#payload, this.#payloadBytes, at);
      at += copied;
      this.#payloadBytes += copied;
      if (this.#payloadBytes < this.#payload.length) break;
      frames.push({ kind: KINDS[this.#header[0]], payload: this.#payload });
      this.#payload = null;
      this.#headerBytes = 0;
    }
    assert(at === chunk.length, 'every byte has its place');
    return { kind: 'frames', frames };
  }

  /** Copies header bytes from the chunk and returns their number. */
  #readHeader(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.#header, this.#headerBytes, at);
    this.#headerBytes += copied;
    return copied;
  }
}
