import type { CloseReason } from '../records/anomaly-event.ts';
import type { RestartReason } from '../records/score-record.ts';
import type { EventState } from './event-state.ts';
import { STATE_FORMAT, StateWriter, TOMBSTONE_ENTRY } from './state-bytes.ts';

/**
 * The journal grows to this size, or to JOURNAL_GARBAGE_RATIO times the live bytes in it. Then the slots of old records
 * are reused.
 */
export const JOURNAL_BYTES_MIN = 1024 * 1024;
export const JOURNAL_GARBAGE_RATIO = 4;
/** A state is written whole again once its changes have so many times its bytes. */
export const CHANGES_RATIO = 3;
/**
 * A journal record is closed once it is longer. It leaves room for one more open state below the broker's limit of 1
 * MiB.
 */
export const JOURNAL_RECORD_BYTES = 256 * 1024;

/** All journals of a thread write with it, one after the other: it grows to the longest record, once. */
const WRITER = new StateWriter();

/** A series or group whose open state is in the journal. */
export interface JournalEntry {
  readonly key: string;
  /** The record with the newest whole open state; null before the first. Its changes are in later ones. */
  journalRecord: JournalRecord | null;
  /** Bytes of the whole open state. */
  openStateBytes: number;
  /** Bytes of the changes since then. */
  changeBytes: number;
  writeOpenState(writer: StateWriter): void;
  /** Changes that `writeOpenState` leaves out: they are written behind it, as they are. */
  readonly keptChanges?: readonly Buffer[];
  /** Writes what changed since the last entry. Returns false, and writes nothing, where the state must be whole. */
  writeChange(writer: StateWriter): boolean;
}

/** An open state that cannot be continued. It is kept until an observation of the series arrives. */
export interface StaleState extends JournalEntry {
  /** Why the series starts over then. */
  readonly reason: RestartReason;
  readonly windowKeys: Buffer[];
  /** Events that are to be closed; `writeOpenState` leaves them out. */
  readonly orphan: OrphanEvents | null;
}

/** The open event of a state that cannot be continued. */
export interface OrphanEvents {
  readonly state: EventState;
  readonly reason: CloseReason;
}

export interface JournalRecord {
  readonly slot: number;
  bytes: number;
  /** Those whose whole open state it holds. */
  readonly entries: JournalEntry[];
}

export interface JournalWrite {
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
 * mean nothing any more; they lie in later records, which are reclaimed in turn.
 *
 *   slot 0 [A B]   slot 1 [b C]   slot 2 [b c]      + commit touching C and D, journal too large
 *   slot 0 [D c A B]   slot 1 [b C]   slot 2 [b c]      A and B were whole in the oldest record; b is a change of B
 */
export class Journal {
  readonly #records: JournalRecord[] = [];
  readonly #freeSlots: number[] = [];
  #nextSlot = 0;
  #bytes = 0;
  #liveBytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds a record that was read from the log; call it in log order. `entries` have their whole open state in it. Their
   * bytes must be set; `journalRecord` is set here.
   */
  adopt(slot: number, bytes: number, entries: readonly JournalEntry[]): void {
    const record: JournalRecord = { slot, bytes, entries: [...entries] };
    for (const entry of entries) {
      entry.journalRecord = record;
      this.#liveBytes += entry.openStateBytes;
    }
    this.#records.push(record);
    this.#bytes += bytes;
    this.#nextSlot = Math.max(this.#nextSlot, slot + 1);
  }

  /** The open state of this entry is not live any more. */
  forget(entry: JournalEntry): void {
    this.#liveBytes -= entry.openStateBytes;
    entry.journalRecord = null;
    entry.openStateBytes = 0;
    entry.changeBytes = 0;
  }

  /**
   * Returns records with the open states of `touched` and of reclaimed records. Each key of `evicted` gets a tombstone,
   * so that a restore does not find its older open states. A tombstone is never written again: all older open states
   * are reclaimed before it.
   */
  write(touched: Iterable<JournalEntry>, evicted: readonly string[] = []): JournalWrite[] {
    const entries = new Set(touched);
    if (entries.size === 0 && evicted.length === 0) return [];
    // What a write that failed has left.
    WRITER.length = 0;
    const freed = this.#reclaim(entries);
    this.#freeSlots.push(...freed);
    const writes: JournalWrite[] = [];
    let record = this.#openRecord();
    const divide = () => {
      if (WRITER.length < JOURNAL_RECORD_BYTES) return;
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
      if (this.#freeSlots.includes(slot)) writes.push({ key: journalKey(slot), value: null });
    }
    return writes;
  }

  /** Removes the oldest records and adds their live entries to `entries`. Returns their slots. */
  #reclaim(entries: Set<JournalEntry>): number[] {
    const slots: number[] = [];
    while (this.#bytes > this.#bytesMax) {
      const oldest = this.#records.shift();
      if (oldest === undefined) break;
      this.#bytes -= oldest.bytes;
      slots.push(oldest.slot);
      for (const entry of oldest.entries) {
        if (entry.journalRecord !== oldest) continue;
        entry.journalRecord = null;
        entries.add(entry);
      }
    }
    return slots;
  }

  get #bytesMax(): number {
    return Math.max(JOURNAL_BYTES_MIN, JOURNAL_GARBAGE_RATIO * this.#liveBytes);
  }

  #openRecord(): JournalRecord {
    WRITER.u8(STATE_FORMAT);
    return { slot: this.#freeSlots.pop() ?? this.#nextSlot++, bytes: 0, entries: [] };
  }

  #writeEntry(entry: JournalEntry, record: JournalRecord): void {
    const start = WRITER.beginBlock();
    const isShort = entry.changeBytes < CHANGES_RATIO * entry.openStateBytes;
    if (entry.journalRecord !== null && isShort && entry.writeChange(WRITER)) {
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
    entry.journalRecord = record;
    record.entries.push(entry);
  }

  #writeKeptChange(change: Buffer, entry: JournalEntry): void {
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

  #closeRecord(record: JournalRecord): JournalWrite {
    const value = WRITER.take();
    record.bytes = value.length;
    this.#records.push(record);
    this.#bytes += value.length;
    return { key: journalKey(record.slot), value };
  }
}

function journalKey(slot: number): Buffer {
  return Buffer.from(`j/${slot}`);
}
