/** Tags of fields: the number of the field and its wire type. */
export const varintField = (field: number) => field << 3;
export const fixed64Field = (field: number) => (field << 3) | 1;
export const lengthField = (field: number) => (field << 3) | 2;

/**
 * Reads the fields of Protobuf messages in place, without an object for each. Throws a RangeError on bytes that are
 * none. Measured against protobufjs 7.6.6, Node 24, paired processor time:
 *
 * | | here | protobufjs |
 * | --- | --- | --- |
 * | 32 MiB of empty points, refused at the limit | 4 MB, 0.04 s | 984 MB, 1.9 s: all objects come first |
 * | fields of a point of OTLP, one after another | 0.05 us | 0.44 us: a Long for each time |
 * | a point of OTLP with its series | 0.21 us | 0.21 us for the object alone |
 * | a sample of remote write 1.0 with its series | 0.11 us | 0.17 us for the object alone |
 */
export class ProtobufReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  at = 0;
  /** The rest of the last 64-bit integer of a fixed size, beyond its nearest number. */
  low = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** A varint; exact up to 2^53. */
  varint(): number {
    const bytes = this.#bytes;
    let byte = bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let i = 1, factor = 128; i < 10; i++, factor *= 128) {
      byte = bytes[this.at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new RangeError('a number has no end');
  }

  /** An int64, exact from -2^53 to 2^53. Negative numbers are varints of ten bytes. */
  int64(): number {
    const [bytes, from] = [this.#bytes, this.at];
    const value = this.varint();
    if (this.at - from < 10) return value;
    // -1 less the value of the bits that are not set.
    let unset = 0;
    for (let i = 0, factor = 1; i < 9; i++, factor *= 128) unset += (~bytes[from + i] & 127) * factor;
    return -1 - unset;
  }

  bigInt64(): bigint {
    const [bytes, from] = [this.#bytes, this.at];
    this.varint();
    let bits = 0n;
    for (let at = this.at - 1; at >= from; at--) bits = (bits << 7n) | BigInt(bytes[at] & 127);
    return BigInt.asIntN(64, bits);
  }

  double(): number {
    this.at += 8;
    return this.#view.getFloat64(this.at - 8, true);
  }

  /** The nearest number; `low` is the rest of it. */
  fixed64(): number {
    return this.#sixtyFour(this.#view.getUint32(this.at + 4, true));
  }

  sfixed64(): number {
    return this.#sixtyFour(this.#view.getInt32(this.at + 4, true));
  }

  #sixtyFour(upper: number): number {
    const [high, lower] = [upper * 2 ** 32, this.#view.getUint32(this.at, true)];
    this.at += 8;
    const value = high + lower;
    this.low = lower - (value - high);
    return value;
  }

  string(): string {
    const end = this.end();
    const text = this.#bytes.toString('utf8', this.at, end);
    this.at = end;
    return text;
  }

  /** Bytes of a field of bytes. */
  base64(): string {
    const end = this.end();
    const text = this.#bytes.toString('base64', this.at, end);
    this.at = end;
    return text;
  }

  /** Bytes as characters, to be compared. */
  bytesAt(from: number, to: number): string {
    return this.#bytes.toString('latin1', from, to);
  }

  /** The end of the message, text or list that begins here, by the length before it. */
  end(): number {
    const length = this.varint();
    const end = this.at + length;
    if (!(end <= this.#bytes.length)) throw new RangeError('a message is cut off');
    return end;
  }

  /** Passes over the field of a tag. */
  skip(tag: number): void {
    switch (tag & 7) {
      case 0:
        this.varint();
        break;
      case 1:
        this.at += 8;
        break;
      case 2:
        this.at = this.end();
        break;
      case 5:
        this.at += 4;
        break;
      default:
        throw new RangeError(`there is no wire type ${tag & 7}`);
    }
  }

  /** Reads the fields up to `end`. `read` returns whether it has read the field of a tag; others are passed over. */
  fields(end: number, read: (tag: number) => boolean): void {
    while (this.at < end) {
      const tag = this.varint();
      if (!read(tag)) this.skip(tag);
    }
    this.ended(end);
  }

  /** Reads the fields of one tag up to `end`; others are passed over. */
  each(tag: number, end: number, read: () => void): void {
    this.fields(end, (found) => {
      if (found === tag) read();
      return found === tag;
    });
  }

  /** As `each`, and returns to its place: a field may follow those that need it. */
  ahead(tag: number, end: number, read: () => void): void {
    const { at } = this;
    this.each(tag, end, read);
    this.at = at;
  }

  /** Called after the fields of a message: they end where it does. */
  ended(end: number): void {
    if (this.at !== end) throw new RangeError('a field is longer than its message');
  }
}
