/** Records as they are read and written. Partition numbers are those of the input topic. */

/** Offsets that cannot be read any more, or are not to be read. The reasons are those of dead letters. */
export interface SkippedRange {
  readonly first: number;
  readonly last: number;
  readonly reason: 'records-expired' | 'records-truncated' | 'records-skipped' | 'topic-recreated';
}

/** Headers in their order. A name may occur more than once. */
export type RecordHeaders = readonly (readonly [name: string, value: Buffer | null])[];

/** A record of the input topic. `key` and `value` are copies and may be kept. */
export interface InputRecord {
  readonly partition: number;
  readonly offset: number;
  /** The record's own timestamp, milliseconds since the epoch. */
  readonly timestampMs: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** Those of its headers that pass on to its score. */
  readonly headers?: RecordHeaders;
  /** All of its headers as their bytes, where records are passed on. */
  readonly rawHeaders?: Buffer;
  /**
   * Set where this is no record, but represents offsets that are not read. Its offset is the one before the position at
   * which reading continues.
   */
  readonly skipped?: SkippedRange;
}

export interface EncodableRecord {
  readonly key: Buffer | null;
  /** null is a tombstone: it deletes the key in a compacted topic. */
  readonly value: Buffer | null;
  readonly headers?: RecordHeaders;
  /** Instead of `headers`: their number, names and values, as they are encoded and as an input record had them. */
  readonly rawHeaders?: Buffer;
  /** Milliseconds since the epoch; left out: when it is written. */
  readonly timestampMs?: number;
}

/** A record to be written in a transaction. Readers see it only if its commit succeeds. */
export interface OutputRecord extends EncodableRecord {
  readonly topic: string;
  readonly partition: number;
}
