/**
 * Output buffer of a decompressor. Copies may refer to earlier output. Throws when the output would exceed its bound.
 */
export class InflatedBytes {
  readonly #bytesMax: number;
  #bytes: Buffer;
  #length = 0;

  constructor(bytesMax: number, bytesExpected: number) {
    this.#bytesMax = bytesMax;
    this.#bytes = Buffer.allocUnsafe(Math.min(bytesExpected, bytesMax));
  }

  get length(): number {
    return this.#length;
  }

  append(source: Uint8Array, start: number, end: number): void {
    if (start > end || end > source.length) throw new Error('Compressed records are cut off');
    this.#reserve(end - start);
    this.#bytes.set(source.subarray(start, end), this.#length);
    this.#length += end - start;
  }

  /** Copies `length` bytes that begin `distance` bytes back. The copy may overlap its own output. */
  repeat(distance: number, length: number): void {
    if (distance < 1 || distance > this.#length)
      throw new Error('Compressed records refer to bytes before their begin');
    this.#reserve(length);
    const bytes = this.#bytes;
    let to = this.#length;
    if (distance >= length) bytes.copyWithin(to, to - distance, to - distance + length);
    else for (const end = to + length; to < end; to++) bytes[to] = bytes[to - distance];
    this.#length += length;
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(added: number): void {
    const needed = this.#length + added;
    if (needed <= this.#bytes.length) return;
    if (needed > this.#bytesMax) throw new Error(`Compressed records inflate to more than ${this.#bytesMax} bytes`);
    const grown = Buffer.allocUnsafe(Math.min(this.#bytesMax, Math.max(needed, 2 * this.#bytes.length)));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
