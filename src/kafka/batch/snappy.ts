import { InflatedBytes } from './inflated-bytes.ts';

/**
 * The Java clients put blocks into a frame: this magic, version i32, oldest readable version i32, then [length i32 |
 * block].
 */
const FRAME_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const FRAME_HEADER_BYTES = 16;

/** Inflates Snappy, framed or a single block. Throws on damaged bytes, or more than `bytesMax` of output. */
export function inflateSnappy(bytes: Buffer, bytesMax: number): Buffer {
  const out = new InflatedBytes(bytesMax, 4 * bytes.length);
  if (!bytes.subarray(0, 8).equals(FRAME_MAGIC)) {
    inflateBlock(bytes, out);
    return out.finish();
  }
  for (let at = FRAME_HEADER_BYTES; at < bytes.length; ) {
    const start = at + 4;
    at = start + bytes.readInt32BE(at);
    if (at < start || at > bytes.length) throw new Error('A Snappy block is cut off');
    inflateBlock(bytes.subarray(start, at), out);
  }
  return out.finish();
}

/** A block: its inflated length as a varint, then literals and copies, which the lowest two bits of a tag name. */
function inflateBlock(block: Buffer, out: InflatedBytes): void {
  let [at, length] = [0, 0];
  for (let factor = 1; block[at] > 127; factor *= 128) length += (block[at++] & 127) * factor;
  length += block[at] * 128 ** at;
  at++;
  const end = out.length + length;
  while (at < block.length) {
    const tag = block[at++];
    const high = tag >>> 2;
    switch (tag & 3) {
      case 0: {
        let length = high + 1;
        if (high >= 60) {
          const lengthBytes = high - 59;
          length = block.readUIntLE(at, lengthBytes) + 1;
          at += lengthBytes;
        }
        out.append(block, at, at + length);
        at += length;
        break;
      }
      case 1:
        out.repeat(((tag >>> 5) << 8) | block.readUInt8(at), (high & 7) + 4);
        at += 1;
        break;
      case 2:
        out.repeat(block.readUInt16LE(at), high + 1);
        at += 2;
        break;
      default:
        out.repeat(block.readUInt32LE(at), high + 1);
        at += 4;
    }
  }
  // A block that was cut between two elements would pass for a shorter one.
  if (out.length !== end) throw new Error('A Snappy block is not as long as in its header');
}

const HASH_BITS = 14;
const COPY_BYTES_MIN = 4;
const COPY_BYTES_MAX = 64;
const DISTANCE_MAX = 65_535;

/** Compresses into one block: copies of what came within the last 64 KiB, literals of the rest. */
export function deflateSnappy(bytes: Buffer): Buffer {
  const out = new SnappyBlock(bytes);
  const newest = new Int32Array(1 << HASH_BITS).fill(-1);
  let [at, copied] = [0, 0];
  while (at + COPY_BYTES_MIN <= bytes.length) {
    const word = bytes.readUInt32LE(at);
    const slot = Math.imul(word, 0x1e35a7bd) >>> (32 - HASH_BITS);
    const from = newest[slot];
    newest[slot] = at;
    if (from < 0 || at - from > DISTANCE_MAX || bytes.readUInt32LE(from) !== word) {
      at++;
      continue;
    }
    let length = COPY_BYTES_MIN;
    while (bytes[from + length] === bytes[at + length] && at + length < bytes.length) length++;
    out.literal(copied, at);
    out.copy(at - from, length);
    at += length;
    copied = at;
  }
  out.literal(copied, bytes.length);
  return out.finish();
}

class SnappyBlock {
  readonly #bytes: Buffer;
  readonly #out: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    // The length, and at worst a literal of one byte before each copy of four.
    this.#out = Buffer.allocUnsafe(16 + Math.ceil(bytes.length * 1.25));
    let rest = bytes.length;
    for (; rest > 127; rest >>>= 7) this.#at = this.#out.writeUInt8((rest & 127) | 128, this.#at);
    this.#at = this.#out.writeUInt8(rest, this.#at);
  }

  literal(from: number, to: number): void {
    const last = to - from - 1;
    if (last < 0) return;
    if (last < 60) this.#at = this.#out.writeUInt8(last << 2, this.#at);
    else {
      this.#at = this.#out.writeUInt8(63 << 2, this.#at);
      this.#at = this.#out.writeUInt32LE(last, this.#at);
    }
    this.#at += this.#bytes.copy(this.#out, this.#at, from, to);
  }

  copy(distance: number, length: number): void {
    for (let rest = length; rest > 0; rest -= COPY_BYTES_MAX) {
      this.#at = this.#out.writeUInt8(((Math.min(rest, COPY_BYTES_MAX) - 1) << 2) | 2, this.#at);
      this.#at = this.#out.writeUInt16LE(distance, this.#at);
    }
  }

  finish(): Buffer {
    return this.#out.subarray(0, this.#at);
  }
}
