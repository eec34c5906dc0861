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
/** Memory of a series' key and its place in a map. */
const SERIES_BYTES = 250;
const CHUNK_BYTES = 1024 * 1024;
/** Precedes each value: the number of its series, its slot and its length. */
const HEADER_BYTES = 12;
const SLASH = '/'.charCodeAt(0);

/** Takes a window of one series, with its slot. */
export type WindowSink = (slot: number, value: Buffer) => void;

/**
 * Closed windows in log order. A series has dozens, so an object for each would take more than its bytes. Windows that
 * newer ones have replaced, and deleted ones, remain among them: a series ignores the windows of an earlier one, and
 * those that are older than what it keeps.
 */
export class WindowRecords {
  readonly #series = new Map<string, number>();
  readonly #chunks: { readonly bytes: Buffer; length: number }[] = [];
  readonly #budget: WindowBudget;
  #bytes = 0;
  /** True if they were too large to be kept. */
  overflowed = false;
  any = false;

  constructor(budget = OF_PROCESS) {
    this.#budget = budget;
  }

  /** `value` may be a view: it is copied. */
  keep(key: Buffer, value: Buffer | null): void {
    this.any = true;
    if (this.overflowed || value === null) return;
    const { series, slot } = windowOfKey(key);
    let number = this.#series.get(series);
    if (number === undefined) {
      number = this.#series.size;
      this.#series.set(series, number);
      this.#count(SERIES_BYTES);
    }
    this.#count(HEADER_BYTES + value.length);
    this.overflowed = this.#budget.bytes > this.#budget.bytesMax;
    if (this.overflowed) this.release();
    else this.#append(number, slot, value);
  }

  #append(series: number, slot: number, value: Buffer): void {
    const bytesNeeded = HEADER_BYTES + value.length;
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.length + bytesNeeded > chunk.bytes.length) {
      chunk = { bytes: Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytesNeeded)), length: 0 };
      this.#chunks.push(chunk);
    }
    const { bytes, length } = chunk;
    bytes.writeUInt32LE(series, length);
    bytes.writeUInt32LE(slot, length + 4);
    bytes.writeUInt32LE(value.length, length + 8);
    bytes.set(value, length + HEADER_BYTES);
    chunk.length += bytesNeeded;
  }

  /** Forgets all of them. The last call, also where the restore failed: others may use the room. */
  release(): void {
    this.#series.clear();
    for (const { bytes } of this.#chunks.splice(0)) discard(bytes);
    this.#count(-this.#bytes);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#budget.bytes += bytes;
  }

  /** Forgets all of them, a part before each step. `sinkOf` has the sink of a series. */
  *drain(sinkOf: (series: string) => WindowSink): Generator<void> {
    const sinks = Array.from(this.#series.keys(), sinkOf);
    for (const { bytes, length } of this.#chunks.splice(0)) {
      for (let at = 0; at < length; ) {
        const start = at + HEADER_BYTES;
        const end = start + bytes.readUInt32LE(at + 8);
        sinks[bytes.readUInt32LE(at)](bytes.readUInt32LE(at + 4), bytes.subarray(start, end));
        at = end;
      }
      discard(bytes);
      yield;
    }
  }
}

/** Returns memory now: the collector may find it much later. No view of it is used any more. */
function discard({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** Slot and series of a key `w/SLOT/SERIES`. */
export function windowOfKey(key: Buffer): { readonly slot: number; readonly series: string } {
  const slash = key.indexOf(SLASH, 2);
  return { slot: Number(key.toString('latin1', 2, slash)), series: key.toString('utf8', slash + 1) };
}
