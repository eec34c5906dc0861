import type { ForecastGrid } from '../detection/calibration/cutoff-grid.ts';
import type { SeriesDetector } from '../detection/series/series-detector.ts';
import type { CloseReason } from '../records/anomaly-event.ts';
import type { RestartReason } from '../records/score-record.ts';
import type { EventState } from './event-state.ts';
import { STATE_FORMAT, type StateReader, StateWriter, TOMBSTONE_ENTRY } from './state-bytes.ts';

/** Separates the parts of a group's or member's key. Ids never contain it. */
export const KEY_SEPARATOR = '\0';

/** A series with state in the changelog. Its closed windows are written under its key. */
export interface ChangelogSeries {
  /** The series' id. For a member of a group: detector, group and series, separated. */
  readonly key: string;
  /**
   * Input offset of the observation at position 0. It changes when the series starts over, and distinguishes old
   * closed windows from new ones.
   */
  readonly startOffset: number;
  readonly detector: SeriesDetector;
}

export function groupKey(detector: string, group: string): string {
  return `${detector}${KEY_SEPARATOR}${group}`;
}

export function memberKey(ownGroupKey: string, series: string): string {
  return `${ownGroupKey}${KEY_SEPARATOR}${series}`;
}

/** Writes the phase of windows only if there is one. A negative number precedes it. */
export function writePhasedPositions(
  writer: StateWriter,
  positions: number,
  { phase }: Pick<ForecastGrid, 'phase'>,
): void {
  writer.number(phase === 0 ? positions : -1 - positions);
  if (phase !== 0) writer.number(phase);
}

export function readPhasedPositions(reader: StateReader): { readonly positions: number; readonly phase: number } {
  const positions = reader.number();
  return positions < 0 ? { positions: -1 - positions, phase: reader.number() } : { positions, phase: 0 };
}

/**
 * The delta log grows to this size, or to DELTA_LOG_GARBAGE_RATIO times its live bytes. Then slots of old records are
 * reused; beyond this size also those of the oldest records without a live open state.
 */
export const DELTA_LOG_BYTES_MIN = 1024 * 1024;
export const DELTA_LOG_GARBAGE_RATIO = 4;
/** A state is written whole again once its changes have so many times its bytes. */
export const CHANGES_RATIO = 3;
/**
 * A delta log record is closed once it is longer. It leaves room for one more open state below the broker's limit of 1
 * MiB.
 */
export const DELTA_LOG_RECORD_BYTES = 256 * 1024;

/** All delta logs of a thread write with it, one after the other: it grows to the longest record, once. */
const WRITER = new StateWriter();

/** A series or group whose open state is in the delta log. */
export interface DeltaLogEntry {
  readonly key: string;
  /** The record with the newest whole open state; null before the first. Its changes are in later ones. */
  deltaLogRecord: DeltaLogRecord | null;
  openStateBytes: number;
  changeBytes: number;
  writeOpenState(writer: StateWriter): void;
  /** Changes that `writeOpenState` leaves out: they are written behind it, as they are. */
  readonly keptChanges?: readonly Buffer[];
  /** Writes what changed since the last entry. Returns false, and writes nothing, where the state must be whole. */
  writeChange(writer: StateWriter): boolean;
}

/** An open state that cannot be continued. It is kept until an observation of the series arrives. */
export interface OutdatedEntry extends DeltaLogEntry {
  /** Reason why the series starts over then. */
  readonly reason: RestartReason;
  readonly windowKeys: Buffer[];
  /** Events that are to be closed; `writeOpenState` leaves them out. */
  readonly orphan: { readonly state: EventState; readonly reason: CloseReason } | null;
}

export interface DeltaLogRecord {
  readonly slot: number;
  bytes: number;
  /** Those whose whole open state it held when it was written. */
  readonly entries: DeltaLogEntry[];
  /** Entries whose newest whole open state it holds. */
  live: number;
}

export interface DeltaLogWrite {
  readonly key: Buffer;
  readonly value: Buffer | null;
}

/**
 * The open states of a partition in few, large records. Each commit writes one record with what changed in all series
 * and groups that it touched: an entry is a whole open state, or what was added since the entry before. A record for
 * each of them would cost more than the scores. The newest open state of a series is its last whole one in the log, and
 * the changes that follow.
 *
 * Space is reclaimed from the oldest record. Open states that are whole there and live are written whole again into the
 * new record, under the key of the oldest one. So the new record replaces it, in the same transaction. Their changes
 * mean nothing any more; they are in later records, which are reclaimed in turn. If nothing is live in the oldest
 * record, its slot is free: a fleet whose windows close in turn never writes an open state only to move it.
 *
 *   slot 0 [A B]   slot 1 [b C]   slot 2 [b c]      + commit touching C and D, log too large
 *   slot 0 [D c A B]   slot 1 [b C]   slot 2 [b c]      A and B were whole in the oldest record; b is a change of B
 */
export class DeltaLog {
  readonly #records: DeltaLogRecord[] = [];
  readonly #freeSlots: number[] = [];
  #nextSlot = 0;
  #bytes = 0;
  #liveBytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds a record that was read from the log; call it in log order. `entries` have their whole open state in it. Their
   * bytes must be set; `deltaLogRecord` is set here.
   */
  adopt(slot: number, bytes: number, entries: readonly DeltaLogEntry[]): void {
    const record: DeltaLogRecord = { slot, bytes, entries: [...entries], live: entries.length };
    for (const entry of entries) {
      entry.deltaLogRecord = record;
      this.#liveBytes += entry.openStateBytes;
    }
    this.#records.push(record);
    this.#bytes += bytes;
    this.#nextSlot = Math.max(this.#nextSlot, slot + 1);
  }

  /** The open state of this entry is not live any more. */
  forget(entry: DeltaLogEntry): void {
    this.#liveBytes -= entry.openStateBytes;
    moveTo(null, entry);
    entry.openStateBytes = 0;
    entry.changeBytes = 0;
  }

  /**
   * Returns records with the open states of `touched` and of reclaimed records. Each key of `evicted` gets a tombstone,
   * so that a restore does not find its older open states. A tombstone is never written again: all older open states
   * are reclaimed before it.
   */
  write(touched: Iterable<DeltaLogEntry>, evicted: readonly string[] = []): DeltaLogWrite[] {
    const entries = new Set(touched);
    if (entries.size === 0 && evicted.length === 0) return [];
    // What a write that failed has left.
    WRITER.length = 0;
    const freed = this.#reclaim(entries);
    this.#freeSlots.push(...freed);
    const writes: DeltaLogWrite[] = [];
    let record = this.#openRecord();
    const divide = () => {
      if (WRITER.length < DELTA_LOG_RECORD_BYTES) return;
      writes.push(this.#closeRecord(record));
      record = this.#openRecord();
    };
    for (const key of evicted) {
      divide();
      this.#writeTombstone(key);
    }
    for (const entry of entries) {
      divide();
      this.#writeEntry(entry, record);
      for (const change of entry.keptChanges ?? []) {
        divide();
        this.#writeKeptChange(change, entry);
      }
    }
    writes.push(this.#closeRecord(record));
    for (const slot of freed) {
      if (this.#freeSlots.includes(slot)) writes.push({ key: deltaLogKey(slot), value: null });
    }
    return writes;
  }

  /** Removes the oldest records and adds their live entries to `entries`. Returns their slots. */
  #reclaim(entries: Set<DeltaLogEntry>): number[] {
    const slots: number[] = [];
    for (;;) {
      const [oldest] = this.#records;
      const bytesMax = oldest?.live === 0 ? DELTA_LOG_BYTES_MIN : this.#bytesMax;
      if (oldest === undefined || this.#bytes <= bytesMax) break;
      this.#records.shift();
      this.#bytes -= oldest.bytes;
      slots.push(oldest.slot);
      for (const entry of oldest.entries) {
        if (entry.deltaLogRecord !== oldest) continue;
        moveTo(null, entry);
        entries.add(entry);
      }
    }
    return slots;
  }

  get #bytesMax(): number {
    return Math.max(DELTA_LOG_BYTES_MIN, DELTA_LOG_GARBAGE_RATIO * this.#liveBytes);
  }

  #openRecord(): DeltaLogRecord {
    WRITER.u8(STATE_FORMAT);
    return { slot: this.#freeSlots.pop() ?? this.#nextSlot++, bytes: 0, entries: [], live: 0 };
  }

  #writeEntry(entry: DeltaLogEntry, record: DeltaLogRecord): void {
    const start = WRITER.beginBlock();
    const isShort = entry.changeBytes < CHANGES_RATIO * entry.openStateBytes;
    if (entry.deltaLogRecord !== null && isShort && entry.writeChange(WRITER)) {
      WRITER.endBlock(start);
      entry.changeBytes += WRITER.length - start;
      return;
    }
    entry.writeOpenState(WRITER);
    WRITER.endBlock(start);
    this.#liveBytes -= entry.openStateBytes;
    entry.openStateBytes = WRITER.length - start;
    entry.changeBytes = 0;
    this.#liveBytes += entry.openStateBytes;
    moveTo(record, entry);
    record.entries.push(entry);
  }

  #writeKeptChange(change: Buffer, entry: DeltaLogEntry): void {
    const start = WRITER.beginBlock();
    WRITER.bytes(change);
    WRITER.endBlock(start);
    entry.changeBytes += change.length;
  }

  #writeTombstone(key: string): void {
    const start = WRITER.beginBlock();
    WRITER.u8(TOMBSTONE_ENTRY);
    WRITER.text(key);
    WRITER.endBlock(start);
  }

  #closeRecord(record: DeltaLogRecord): DeltaLogWrite {
    const value = WRITER.drain();
    record.bytes = value.length;
    this.#records.push(record);
    this.#bytes += value.length;
    return { key: deltaLogKey(record.slot), value };
  }
}

function moveTo(record: DeltaLogRecord | null, entry: DeltaLogEntry): void {
  if (entry.deltaLogRecord !== null) entry.deltaLogRecord.live--;
  if (record !== null) record.live++;
  entry.deltaLogRecord = record;
}

function deltaLogKey(slot: number): Buffer {
  return Buffer.from(`j/${slot}`);
}
