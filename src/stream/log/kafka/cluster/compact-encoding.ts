import { readInt64 } from '../batch/record-batch-decoder.ts';

/**
 * Kafka's compact encoding, in which newer requests are written. Lengths are uvarints of n + 1; 0 is null. Each
 * structure ends with its tagged fields; we send none.
 */
export const NO_TAGS = Buffer.from([0]);
/** The length of an array with one element. */
export const ONE = Buffer.from([2]);

export function compactString(text: string): Buffer {
  const bytes = Buffer.from(text);
  // Names of groups, topics and transactional ids are shorter than 2^14 bytes: two bytes of length are enough.
  const size = bytes.length + 1;
  return Buffer.concat([Buffer.from(size < 128 ? [size] : [(size & 127) | 128, size >>> 7]), bytes]);
}

/** Reads a response in the compact encoding, from the tagged fields of its header on. Skips tagged fields. */
export class CompactReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.skipTags();
  }

  i8(): number {
    return this.#bytes.readInt8(this.#advance(1));
  }

  i16(): number {
    return this.#bytes.readInt16BE(this.#advance(2));
  }

  i32(): number {
    return this.#bytes.readInt32BE(this.#advance(4));
  }

  i64(): number {
    return readInt64(this.#bytes, this.#advance(8));
  }

  /** A view. */
  raw(length: number): Buffer {
    const start = this.#advance(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** The length of an array or text; -1 is null. */
  count(): number {
    return this.#uvarint() - 1;
  }

  /** null is returned as an empty string. */
  text(): string {
    return this.raw(Math.max(0, this.count())).toString();
  }

  /** Reads an array. Each element ends with its tagged fields. */
  array<T>(element: () => T): T[] {
    return Array.from({ length: Math.max(0, this.count()) }, () => {
      const read = element();
      this.skipTags();
      return read;
    });
  }

  skipTags(): void {
    for (let fields = this.#uvarint(); fields > 0; fields--) {
      this.#uvarint();
      this.#advance(this.#uvarint());
    }
  }

  #uvarint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes.readUInt8(this.#advance(1));
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  }

  #advance(bytes: number): number {
    const start = this.#at;
    this.#at += bytes;
    return start;
  }
}
