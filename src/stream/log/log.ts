/**
 * The log as the stream engine needs it. Kafka (kafka/) implements it, and a log in memory for tests. Both pass one
 * contract suite. Partition numbers are those of the input topic. Scores, events and changelog have the same partition
 * count.
 */

/** Offsets that cannot be read any more, or are not to be read. The reasons are those of dead letters. */
export interface SkippedRange {
  readonly first: number;
  readonly last: number;
  readonly reason: 'records-expired' | 'records-truncated' | 'records-skipped' | 'topic-recreated';
}

/** A record of the input topic. `key` and `value` are copies and may be kept. */
export interface InputRecord {
  readonly partition: number;
  readonly offset: number;
  /** The record's own timestamp, milliseconds since the epoch. */
  readonly timestampMs: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** Those of its headers that pass on to its score. */
  readonly headers?: Readonly<Record<string, string>>;
  /** All of its headers as their bytes, where records are passed on. */
  readonly rawHeaders?: Buffer;
  /**
   * Set where this is no record, but stands for offsets that are not read. Its offset is the one before the position at
   * which reading continues.
   */
  readonly skipped?: SkippedRange;
}

/** A record to be written. Readers see it only if its commit succeeds. */
export interface OutputRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | null;
  /** null is a tombstone: it deletes the key in a compacted topic. */
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of `headers`: the bytes that an input record had. */
  readonly rawHeaders?: Buffer;
  /** Milliseconds since the epoch; left out: when it is written. */
  readonly timestampMs?: number;
}

/**
 * Exclusive ownership of an input partition. Opening a session fences every earlier owner: their commits fail from then
 * on. After any rejected call the session is dead: close it, discard the state, and open a new one.
 */
export interface PartitionSession {
  readonly partition: number;
  /**
   * The committed input offset; null where the group has none. It is read after fencing, so that no earlier owner can
   * move it.
   */
  readonly committedOffset: number | null;
  /** The id of the input topic. It changes when the topic is created anew. null where it is not known. */
  readonly inputTopicId: string | null;
  /** The offset of the oldest input record. */
  oldestOffset(): Promise<number>;
  /** The input records from `offset` on, whose offsets are below `offset + span`. */
  readInput(offset: number, span: number): Promise<readonly InputRecord[]>;
  /** Reads every record of this partition's changelog in log order. The newest record of a key comes last. */
  readChangelog(
    onRecord: (key: Buffer, value: Buffer | null) => void,
    onProgress?: (share: number) => void,
  ): Promise<void>;
  /** Writes the outputs and commits `nextOffset` in one transaction. One call at a time. */
  commit(outputs: readonly OutputRecord[], nextOffset: number): Promise<void>;
  close(): Promise<void>;
}

export interface SubscriptionHandlers {
  /**
   * The assigned partitions; none when the membership was lost. Partitions that were assigned before are delivered as
   * before, the missing ones are revoked, and of a new one no records are delivered before `start` is called for it.
   * Must not block.
   */
  onAssignment(partitions: readonly number[]): void;
  /**
   * Records of a partition in offset order. Must not block: queue them, and `pause` the partition when the queue is
   * full.
   */
  onRecords(partition: number, records: readonly InputRecord[]): void;
  /** The log is out of reach (`error`), or back (`null`). The subscription recovers by itself. */
  onConnection(error: Error | null): void;
  /** One partition cannot be read (`error`), or can be read again (`null`). The others are delivered as before. */
  onStalled(partition: number, error: Error | null): void;
  /** The subscription has failed for good. The process should end. */
  onFatal(error: Error): void;
}

export interface Subscription {
  /**
   * Delivers the records of an assigned partition from `offset` on. A partition that is not assigned any more is
   * ignored. `topicId` is the id of the topic that the offset belongs to; left out, or null: of the present one.
   */
  start(partition: number, offset: number, topicId?: string | null): void;
  /**
   * Resolves when the group has confirmed that the partition is assigned to this member. Until then no session may be
   * opened: it could fence the true owner. Rejects with the reason of `signal`.
   */
  confirm(partition: number, signal: AbortSignal): Promise<void>;
  pause(partition: number): void;
  resume(partition: number): void;
  /** Leaves the group. No records are delivered afterwards. */
  stop(): Promise<void>;
}

export interface StreamLog {
  /** Partition count of the input topic. */
  partitionCount(): Promise<number>;
  subscribe(handlers: SubscriptionHandlers): Promise<Subscription>;
  /** `onFailure` is told of each failure that is retried. */
  openPartition(partition: number, signal?: AbortSignal, onFailure?: (error: Error) => void): Promise<PartitionSession>;
  close(): Promise<void>;
}
