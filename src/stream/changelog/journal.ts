import { GONE_ENTRY, STATE_FORMAT, StateWriter } from './state-bytes.ts';

/** The journal is let grow to this size, or to JOURNAL_GARBAGE_RATIO times what is live in it, before old records are reused. */
export const JOURNAL_BYTES_MIN = 1024 * 1024;
export const JOURNAL_GARBAGE_RATIO = 4;
/** A journal record is closed once it is longer; below the broker's limit of 1 MiB with room for one more head. */
export const JOURNAL_RECORD_BYTES = 256 * 1024;

/** Something whose open state ("head") lies in the journal. */
export interface JournalEntry {
  readonly key: string;
  /** The record that holds the newest head; null before the first. */
  journalRecord: JournalRecord | null;
  headBytes: number;
  writeHead(writer: StateWriter): void;
}

/** The head of a series or group that was made under other settings or another model. It is kept until the series comes again. */
export interface StaleHead extends JournalEntry {
  readonly windowKeys: Buffer[];
}

export interface JournalRecord {
  readonly slot: number;
  bytes: number;
  readonly entries: JournalEntry[];
}

export interface JournalWrite {
  readonly key: Buffer;
  readonly value: Buffer | null;
}

/**
 * Open states of a partition in few, large records: one per commit holds the heads of everything that the commit touched, since a
 * record for each would cost more than the scores. The newest head of a series is the one that comes last in the log.
 *
 * Space is taken back from the oldest end: heads that are still live in the oldest record go into the new one, whose key is the
 * oldest one's. So the new record replaces it, in the same transaction.
 *
 *   slot 0 [A1 B1]   slot 1 [B2 C1]   slot 2 [C2]      + commit touching D, journal too large
 *   slot 0 [D1 A1]   slot 1 [B2 C1]   slot 2 [C2]      A is live still and moves along; B1 is not
 */
export class Journal {
  readonly #writer = new StateWriter();
  readonly #records: JournalRecord[] = [];
  readonly #freeSlots: number[] = [];
  #nextSlot = 0;
  #bytes = 0;
  #liveBytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Restores one record in log order; `headBytes` of the entries are known, `journalRecord` is set here. */
  adopt(slot: number, bytes: number, entries: readonly JournalEntry[]): void {
    const record: JournalRecord = { slot, bytes, entries: [...entries] };
    for (const entry of entries) {
      entry.journalRecord = record;
      this.#liveBytes += entry.headBytes;
    }
    this.#records.push(record);
    this.#bytes += bytes;
    this.#nextSlot = Math.max(this.#nextSlot, slot + 1);
  }

  /** A head that is not live any more. */
  forget(entry: JournalEntry): void {
    this.#liveBytes -= entry.headBytes;
    entry.journalRecord = null;
    entry.headBytes = 0;
  }

  /**
   * Records that hold the heads of `touched`, and of whatever had to move.
   * `gone` are keys whose older heads must not be found any more; such a mark never moves, since older heads go before it does.
   */
  write(touched: Iterable<JournalEntry>, gone: readonly string[] = []): JournalWrite[] {
    const entries = new Set(touched);
    if (entries.size === 0 && gone.length === 0) return [];
    const freed = this.#reclaim(entries);
    this.#freeSlots.push(...freed);
    const writes: JournalWrite[] = [];
    let record = this.#openRecord();
    const divide = () => {
      if (this.#writer.length < JOURNAL_RECORD_BYTES) return;
      writes.push(this.#closeRecord(record));
      record = this.#openRecord();
    };
    for (const key of gone) {
      divide();
      this.#writeGone(key);
    }
    for (const entry of entries) {
      divide();
      this.#writeEntry(entry, record);
    }
    writes.push(this.#closeRecord(record));
    for (const slot of freed) {
      if (this.#freeSlots.includes(slot)) writes.push({ key: journalKey(slot), value: null });
    }
    return writes;
  }

  /** Takes the oldest records out of the journal and adds what is live in them to `entries`. Returns their slots. */
  #reclaim(entries: Set<JournalEntry>): number[] {
    const slots: number[] = [];
    while (this.#records.length > 0 && this.#bytes > this.#bytesMax) {
      const oldest = this.#records.shift()!;
      this.#bytes -= oldest.bytes;
      slots.push(oldest.slot);
      for (const entry of oldest.entries) if (entry.journalRecord === oldest) entries.add(entry);
    }
    return slots;
  }

  get #bytesMax(): number {
    return Math.max(JOURNAL_BYTES_MIN, JOURNAL_GARBAGE_RATIO * this.#liveBytes);
  }

  #openRecord(): JournalRecord {
    this.#writer.u8(STATE_FORMAT);
    return { slot: this.#freeSlots.pop() ?? this.#nextSlot++, bytes: 0, entries: [] };
  }

  #writeEntry(entry: JournalEntry, record: JournalRecord): void {
    const start = this.#writer.beginBlock();
    entry.writeHead(this.#writer);
    this.#writer.endBlock(start);
    this.#liveBytes -= entry.headBytes;
    entry.headBytes = this.#writer.length - start;
    this.#liveBytes += entry.headBytes;
    entry.journalRecord = record;
    record.entries.push(entry);
  }

  #writeGone(key: string): void {
    const start = this.#writer.beginBlock();
    this.#writer.u8(GONE_ENTRY);
    this.#writer.text(key);
    this.#writer.endBlock(start);
  }

  #closeRecord(record: JournalRecord): JournalWrite {
    const value = this.#writer.take();
    record.bytes = value.length;
    this.#records.push(record);
    this.#bytes += value.length;
    return { key: journalKey(record.slot), value };
  }
}

function journalKey(slot: number): Buffer {
  return Buffer.from(`j/${slot}`);
}
