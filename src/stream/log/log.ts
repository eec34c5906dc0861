/**
 * What the stream engine needs of a log. Two implementations keep one contract suite: Kafka (kafka/) and memory (memory-log.ts).
 * Partition numbers are those of the input topic; scores and changelog have the same partition count.
 */

/** A record of the input topic. `key` and `value` are copies: they may be kept. */
export interface InputRecord {
  readonly partition: number;
  readonly offset: number;
  /** The record's own timestamp, milliseconds since the epoch. */
  readonly timestampMs: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

/** A record to be written; it appears to readers only if the commit it belongs to succeeds. */
export interface OutputRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | null;
  /** null deletes the key in a compacted topic. */
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Sole ownership of one input partition. Opening it fences every earlier owner: their commits fail from then on.
 * After any rejected call the session is dead: close it, discard what was computed, open a new one.
 */
export interface PartitionSession {
  readonly partition: number;
  /** First input offset that no commit covers yet. Read after fencing, so no earlier owner can move it. */
  readonly committedOffset: number;
  /** Hands over every live record of this partition's changelog, in order; the newest of a key comes last. */
  readChangelog(onRecord: (key: Buffer, value: Buffer | null) => void): Promise<void>;
  /** Writes the outputs and moves the committed offset to `nextOffset`, all or nothing. One call at a time. */
  commit(outputs: readonly OutputRecord[], nextOffset: number): Promise<void>;
  close(): Promise<void>;
}

export interface SubscriptionHandlers {
  /**
   * The set of partitions owned from now on. Every call ends all earlier ownership, also of partitions that are named again.
   * Nothing is delivered for a partition until `start` was called for it. Must not block.
   */
  onAssignment(partitions: readonly number[]): void;
  /** Records of one partition in offset order. Must not block: queue them, and `pause` the partition when the queue is full. */
  onRecords(partition: number, records: readonly InputRecord[]): void;
  /** The log is out of reach (`error`), or back (`null`). The subscription recovers by itself. */
  onConnection(error: Error | null): void;
  /** The subscription cannot go on; the process should end. */
  onFatal(error: Error): void;
}

export interface Subscription {
  /** Delivers an assigned partition from `offset` on. A partition that is not assigned any more is ignored. */
  start(partition: number, offset: number): void;
  pause(partition: number): void;
  resume(partition: number): void;
  /** Leaves the group; nothing is delivered afterwards. */
  stop(): Promise<void>;
}

export interface StreamLog {
  /** Partition count of the input topic. */
  partitionCount(): Promise<number>;
  subscribe(handlers: SubscriptionHandlers): Promise<Subscription>;
  openPartition(partition: number, signal?: AbortSignal): Promise<PartitionSession>;
  close(): Promise<void>;
}
