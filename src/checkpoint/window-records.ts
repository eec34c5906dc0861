import { discard } from './open-states.ts';
import { StateReader } from './state-bytes.ts';

/** Room for closed windows while changelogs are read, until the open states are known. */
export interface WindowBudget {
  bytes: number;
  readonly bytesMax: number;
}

/**
 * That of all partitions that a process restores: enough for a partition of SERIES_MAX series with the defaults. A
 * partition that exceeds it drops its own windows, and reads its changelog a second time.
 */
const OF_PROCESS: WindowBudget = { bytes: 0, bytesMax: 512 * 1024 * 1024 };
/** Memory of a series, its id aside. */
const SERIES_BYTES = 300;
const [CHUNK_BYTES, IDS_BYTES] = [1024 * 1024, 64 * 1024];
/** Precedes each value: its length, and the room that it has. */
const HEADER_BYTES = 8;
const [SLASH, ZERO] = [...Buffer.from('/0')];
/** Chunks of restores that have ended, for those that follow: new memory would cost as much as all that is copied. */
const freeChunks: Buffer[] = [];
const TABLE_LENGTH = 1_024;
const NO_PLACE = -1;

interface KeptSeries {
  readonly hash: number;
  readonly idStart: number;
  readonly idEnd: number;
  /** Places of its windows in the chunks, by their slots. */
  readonly places: number[];
}

interface Chunk {
  readonly bytes: Buffer;
  reader: StateReader;
  length: number;
}

/** Takes a window of one series. The reader precedes its state, which ends at `end`. */
type WindowSink = (reader: StateReader, end: number) => void;

/**
 * The newest closed window of each key. A changelog has millions of them, so ids are compared as bytes: a string and
 * objects for each record would take longer than the rest of the restore.
 */
export class WindowRecords {
  readonly #series: KeptSeries[] = [];
  /** The numbers of the series from 1, at their hash or behind it. */
  #table = new Int32Array(TABLE_LENGTH);
  #ids: DataView = new DataView(new ArrayBuffer(IDS_BYTES));
  readonly #chunks: Chunk[] = [];
  #keys: DataView = new DataView(new ArrayBuffer(0));
  readonly #budget: WindowBudget;
  #bytes = 0;
  /** True if they were too large to be kept. */
  overflowed = false;

  constructor(budget = OF_PROCESS) {
    this.#budget = budget;
  }

  /** `value` may be a view: it is copied. null deletes the window. */
  keep(key: Buffer, value: Buffer | null): void {
    if (this.overflowed) return;
    const { slot, idAt } = slotOfKey(key);
    if (this.#keys.buffer !== key.buffer) this.#keys = new DataView(key.buffer);
    const { places } = this.#seriesOf(this.#keys, key.byteOffset + idAt, key.byteOffset + key.length);
    const place = places[slot] ?? NO_PLACE;
    if (value === null) places[slot] = NO_PLACE;
    else if (place === NO_PLACE || !this.#replace(place, value)) places[slot] = this.#append(value);
    this.overflowed = this.#budget.bytes > this.#budget.bytesMax;
    if (this.overflowed) this.release();
  }

  /** Hands the windows of a series over, once, by their slots. */
  take(id: string, sink: WindowSink): void {
    const { buffer, byteOffset, byteLength } = Buffer.from(id);
    const { places } = this.#seriesOf(new DataView(buffer), byteOffset, byteOffset + byteLength);
    places.forEach((place) => {
      if (place === NO_PLACE) return;
      const chunk = this.#chunks[Math.floor(place / CHUNK_BYTES)];
      const start = (place % CHUNK_BYTES) + HEADER_BYTES;
      const format = chunk.bytes[start];
      if (chunk.reader.format !== format) chunk.reader = new StateReader(chunk.bytes, 0, format);
      chunk.reader.position = start + 1;
      sink(chunk.reader, start + chunk.bytes.readUInt32LE(start - HEADER_BYTES));
    });
    places.length = 0;
  }

  /** The series whose windows were not taken, and the slots of these. */
  *left(): Generator<readonly [series: string, slots: readonly number[]]> {
    for (const { idStart, idEnd, places } of this.#series) {
      const slots = Object.keys(places).map(Number);
      const kept = slots.filter((slot) => places[slot] !== NO_PLACE);
      if (kept.length > 0) yield [Buffer.from(this.#ids.buffer, idStart, idEnd - idStart).toString(), kept];
    }
  }

  /** Forgets all of them. The last call, also where the restore failed: others may use the room. */
  release(): void {
    this.#series.length = 0;
    this.#table = new Int32Array(TABLE_LENGTH);
    for (const { bytes } of this.#chunks.splice(0)) {
      // What was too much must not stay while the changelog is read again.
      if (bytes.length === CHUNK_BYTES && !this.overflowed) freeChunks.push(bytes);
      else discard(bytes);
    }
    this.#count(-this.#bytes);
  }

  /** The series with the id that is bytes [start, end). */
  #seriesOf(bytes: DataView, start: number, end: number): KeptSeries {
    const hash = hashOf(bytes, start, end);
    const mask = this.#table.length - 1;
    let at = hash & mask;
    while (this.#table[at] !== 0) {
      const series = this.#series[this.#table[at] - 1];
      if (series.hash === hash && this.#hasId(series, bytes, start, end)) return series;
      at = (at + 1) & mask;
    }
    const added = { hash, ...this.#addId(bytes, start, end), places: [] };
    this.#table[at] = this.#series.push(added);
    if (2 * this.#series.length > this.#table.length) this.#growTable();
    return added;
  }

  #hasId({ idStart, idEnd }: KeptSeries, bytes: DataView, start: number, end: number): boolean {
    if (idEnd - idStart !== end - start) return false;
    const ids = this.#ids;
    let [own, at] = [idStart, start];
    for (; at + 4 <= end; at += 4, own += 4) if (ids.getInt32(own, true) !== bytes.getInt32(at, true)) return false;
    for (; at < end; at++, own++) if (ids.getUint8(own) !== bytes.getUint8(at)) return false;
    return true;
  }

  #addId({ buffer }: DataView, start: number, end: number): Pick<KeptSeries, 'idStart' | 'idEnd'> {
    const idStart = this.#series.at(-1)?.idEnd ?? 0;
    const idEnd = idStart + end - start;
    if (idEnd > this.#ids.byteLength) {
      const grown = new Uint8Array(2 * idEnd);
      grown.set(new Uint8Array(this.#ids.buffer));
      this.#ids = new DataView(grown.buffer);
    }
    new Uint8Array(this.#ids.buffer, idStart).set(new Uint8Array(buffer, start, end - start));
    this.#count(SERIES_BYTES + end - start);
    return { idStart, idEnd };
  }

  #growTable(): void {
    this.#table = new Int32Array(2 * this.#table.length);
    const mask = this.#table.length - 1;
    for (const [i, { hash }] of this.#series.entries()) {
      let at = hash & mask;
      while (this.#table[at] !== 0) at = (at + 1) & mask;
      this.#table[at] = i + 1;
    }
  }

  /** Overwrites an earlier value. Returns false, and changes nothing, if that had less room. */
  #replace(place: number, value: Buffer): boolean {
    const { bytes } = this.#chunks[Math.floor(place / CHUNK_BYTES)];
    const at = place % CHUNK_BYTES;
    if (value.length > bytes.readUInt32LE(at + 4)) return false;
    bytes.writeUInt32LE(value.length, at);
    bytes.set(value, at + HEADER_BYTES);
    return true;
  }

  #append(value: Buffer): number {
    const bytesNeeded = HEADER_BYTES + value.length;
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.length + bytesNeeded > chunk.bytes.length) {
      const free = bytesNeeded > CHUNK_BYTES ? undefined : freeChunks.pop();
      const bytes = free ?? Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytesNeeded));
      chunk = { bytes, reader: new StateReader(bytes), length: 0 };
      this.#chunks.push(chunk);
    }
    const { bytes, length } = chunk;
    bytes.writeUInt32LE(value.length, length);
    bytes.writeUInt32LE(value.length, length + 4);
    bytes.set(value, length + HEADER_BYTES);
    chunk.length += bytesNeeded;
    this.#count(bytesNeeded);
    return (this.#chunks.length - 1) * CHUNK_BYTES + length;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#budget.bytes += bytes;
  }
}

/** Returns the memory to the system once no restore follows. */
export function discardChunks(): void {
  for (const bytes of freeChunks.splice(0)) discard(bytes);
}

/** Slot of a key `w/SLOT/SERIES`, and where the id of the series begins. */
function slotOfKey(key: Buffer): { readonly slot: number; readonly idAt: number } {
  let [slot, at] = [0, 2];
  for (; at < key.length && key[at] !== SLASH; at++) slot = 10 * slot + key[at] - ZERO;
  return { slot, idAt: at + 1 };
}

/** The key of a closed window. */
export function windowKey(slot: number, series: string): Buffer {
  return Buffer.from(`w/${slot}/${series}`);
}

/** Slot and series of a key `w/SLOT/SERIES`. */
export function windowOfKey(key: Buffer): { readonly slot: number; readonly series: string } {
  const { slot, idAt } = slotOfKey(key);
  return { slot, series: key.toString('utf8', idAt) };
}

function hashOf(bytes: DataView, start: number, end: number): number {
  let hash = end - start;
  let at = start;
  for (; at + 4 <= end; at += 4) hash = mixed(hash ^ bytes.getInt32(at, true));
  for (; at < end; at++) hash = mixed(hash ^ bytes.getUint8(at));
  return hash;
}

/** An odd factor carries bits upwards, and the shift carries them back. */
function mixed(bits: number): number {
  const product = Math.imul(bits, 0x9e37_79b1);
  return product ^ (product >>> 15);
}
