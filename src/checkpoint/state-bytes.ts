import assert from 'node:assert/strict';
import { endianness } from 'node:os';
import { ServiceError } from '../ops/service-error.ts';
import { NUMBER_BYTES_MAX, putNumber, takeNumber } from './number-bytes.ts';

/**
 * Version of every record that is written to the changelog. Open states of the versions listed here are read and
 * converted, and closed windows of all versions; later versions are refused.
 *
 *   5  what 0.2.0 writes
 *   6  residuals of closed windows as bfloat16; changes without what is fixed in a window, or in a slot of the
 *      seasonal profile, or follows from one row; groups: seasonal profiles of members that left
 *   7  the seasonal profile of whole days
 *   8  what 0.3.0 writes; a phase of windows follows positions that are written as -1 - positions
 *   9  marks seasonal profiles whose level may have changed; profiles without what was reported; thresholds of alarms
 *      that are exceeded by a margin
 */
export const STATE_FORMAT = 9;
/** Open states of earlier formats start over. 0.2.0 may have left some of them, of series that sent nothing since. */
export const STATE_FORMAT_MIN = 5;

/**
 * Kinds of entries in a delta log record. The kind has the format of the entry, since an old entry may move to a
 * new record.
 */
export const SERIES_ENTRY = 23;
export const GROUP_ENTRY = 24;
/** Changes of an open state since the entry before it. */
export const CHANGE_ENTRY = 25;
/** The series or group was evicted. */
export const TOMBSTONE_ENTRY = 3;
const SERIES_ENTRIES = [0, 1, 4, 6, 8, 11, 14, 17, 20, SERIES_ENTRY];
const GROUP_ENTRIES = [0, 2, 5, 7, 9, 12, 15, 18, 21, GROUP_ENTRY];
const CHANGE_ENTRIES = [0, 0, 0, 0, 10, 13, 16, 19, 22, CHANGE_ENTRY];

export function isGroupEntry(kind: number): boolean {
  return GROUP_ENTRIES.includes(kind, 1);
}

/** The format of an entry's state. An index of the lists is a format. */
export function formatOfEntry(kind: number): number {
  return Math.max(...[SERIES_ENTRIES, GROUP_ENTRIES, CHANGE_ENTRIES].map((kinds) => kinds.indexOf(kind, 1)));
}

/** True if an entry is a change of a state, in any format. */
export function isChangeEntry(kind: number): boolean {
  return kind > 0 && CHANGE_ENTRIES.includes(kind);
}

assert(endianness() === 'LE', 'changelog records are little-endian, as are all machines Node runs on');

/** Throws ServiceError `configuration` for a record in a later format. */
export function assertStateFormat(format: number): void {
  if (format >= 1 && format <= STATE_FORMAT) return;
  const text = `the changelog holds state in format ${format}, this version reads formats up to ${STATE_FORMAT}`;
  throw new ServiceError('configuration', `${text}: run the version that wrote it, or reset the changelog topic`);
}

/**
 * What `read` makes of a value of the changelog. Throws ServiceError `configuration` where it throws because of the
 * bytes: nothing that is scored could be trusted.
 */
export function readStored<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    const text = `the changelog holds a damaged value: ${name} (${(cause as Error).message})`;
    const remedy = 'another program wrote it, or bytes were lost; reset the changelog topic';
    throw new ServiceError('configuration', `${text}: ${remedy}`, { cause });
  }
}

/** JSON of the changelog that `fits`. Throws as `readStored`. */
export function readStoredJson<T extends object>(name: string, value: Buffer, fits: (read: T) => boolean): T {
  return readStored(name, () => {
    const read = JSON.parse(value.toString()) as T | null;
    if (typeof read === 'object' && read !== null && fits(read)) return read;
    throw new TypeError(`${value.toString('utf8', 0, SHOWN_BYTES_MAX)} is something else`);
  });
}

const SHOWN_BYTES_MAX = 100;
const INITIAL_BYTES = 64 * 1024;
/** Length that represents null. */
const NO_BLOB = 0xffffffff;

/** Longer texts are written by the Buffer. */
const SHORT_TEXT = 128;

/** Writes little-endian numbers and texts. NaN has one pattern: that of the engine depends on how hot the code is. */
export class StateWriter {
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #view = new DataView(this.#bytes.buffer);
  length = 0;

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.length++] = value;
  }

  u16(value: number): void {
    this.#reserve(2);
    this.#view.setUint16(this.length, value, true);
    this.length += 2;
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.length, value, true);
    this.length += 4;
  }

  f16(value: number): void {
    this.#reserve(2);
    if (Number.isNaN(value)) this.#view.setUint16(this.length, 0x7e00, true);
    else this.#view.setFloat16(this.length, value, true);
    this.length += 2;
  }

  f32(value: number): void {
    this.#reserve(4);
    if (Number.isNaN(value)) this.#view.setUint32(this.length, 0x7fc00000, true);
    else this.#view.setFloat32(this.length, value, true);
    this.length += 4;
  }

  f64(value: number): void {
    this.#reserve(8);
    if (Number.isNaN(value)) this.#view.setBigUint64(this.length, 0x7ff8000000000000n, true);
    else this.#view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** Any number, exactly: 1 byte where it is small and whole, 9 at most. */
  number(value: number): void {
    this.#reserve(NUMBER_BYTES_MAX);
    this.length = putNumber(this.#view, this.length, value);
  }

  /** The numbers at these places behind `start`, one after the other. */
  numbers(source: Float64Array | Float32Array, start: number, places: readonly number[]): void {
    this.#reserve(NUMBER_BYTES_MAX * places.length);
    let { length } = this;
    for (const place of places) length = putNumber(this.#view, length, source[start + place]);
    this.length = length;
  }

  /** At most 64 KiB of UTF-8. */
  text(value: string): void {
    this.#reserve(2 + value.length * 3);
    const start = this.length + 2;
    const written = this.#ascii(value, start) ? value.length : this.#bytes.write(value, start);
    this.#view.setUint16(this.length, written, true);
    this.length = start + written;
  }

  /** Returns false if a text is long, or not ASCII. A call of Buffer takes longer for short ones. */
  #ascii(value: string, start: number): boolean {
    const { length } = value;
    if (length > SHORT_TEXT) return false;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return false;
      this.#bytes[start + i] = code;
    }
    return true;
  }

  bytes(value: Buffer): void {
    this.#reserve(value.length);
    value.copy(this.#bytes, this.length);
    this.length += value.length;
  }

  /** Bytes with their length; null is no bytes at all. */
  blob(value: Buffer | null): void {
    this.u32(value === null ? NO_BLOB : value.length);
    if (value !== null) this.bytes(value);
  }

  /** Reserves four bytes for a length that `endBlock` fills in. */
  beginBlock(): number {
    this.u32(0);
    return this.length;
  }

  endBlock(start: number): void {
    this.#view.setUint32(start - 4, this.length - start, true);
  }

  /** Returns a copy of what was written so far, and empties the writer. */
  drain(): Buffer {
    const drained = Buffer.from(this.#bytes.subarray(0, this.length));
    this.length = 0;
    return drained;
  }

  #reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.length);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

/** Reads what a StateWriter wrote. Throws a RangeError beyond the end. */
export class StateReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly format: number;
  position: number;

  constructor(bytes: Buffer, position = 0, format = STATE_FORMAT) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.position = position;
    this.format = format;
  }

  get done(): boolean {
    return this.position >= this.#bytes.length;
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#advance(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  f16(): number {
    return this.#view.getFloat16(this.#advance(2), true);
  }

  f32(): number {
    return this.#view.getFloat32(this.#advance(4), true);
  }

  f64(): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  number(): number {
    return takeNumber(this.#view, this);
  }

  text(): string {
    const length = this.u16();
    const start = this.#advance(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  skipText(): void {
    const length = this.u16();
    this.#advance(length);
  }

  /** A copy. */
  blob(): Buffer | null {
    const length = this.u32();
    if (length === NO_BLOB) return null;
    const start = this.#advance(length);
    return Buffer.from(this.#bytes.subarray(start, start + length));
  }

  #advance(bytes: number): number {
    const start = this.position;
    this.position += bytes;
    return start;
  }
}
