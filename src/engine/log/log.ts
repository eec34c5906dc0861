/**
 * The log as the stream engine needs it. Kafka (kafka-log.ts) implements it, and a log in memory for tests. Both pass
 * one contract suite. Partition numbers are those of the input topic. Scores, events and changelog have the same
 * partition count.
 */
import type { InputRecord } from '../../kafka/batch/records.ts';
import type { InputEnd } from '../../kafka/fetch/partition-reading.ts';
import type { PartitionSession } from '../../kafka/partition-session.ts';

export type { InputRecord, OutputRecord, SkippedRange } from '../../kafka/batch/records.ts';
export type { InputEnd } from '../../kafka/fetch/partition-reading.ts';
export type { PartitionSession } from '../../kafka/partition-session.ts';

export interface SubscriptionHandlers {
  /**
   * The assigned partitions; none when the membership was lost. Partitions that were assigned before are delivered as
   * before, the missing ones are revoked, and of a new one no records are delivered before `start` is called for it.
   * Must not block.
   */
  onAssignment(partitions: readonly number[]): void;
  /**
   * Records of a partition in offset order; none where only markers of transactions were read. Reading continues at
   * `nextOffset`. Must not block: queue them, and `pause` the partition when the queue is full.
   */
  onRecords(partition: number, records: readonly InputRecord[], nextOffset: number): void;
  /** The log is out of reach (`error`), or back (`null`). The subscription recovers automatically. */
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
   * Resolves when the consumer group has confirmed that the partition is assigned to this member. Until then no session
   * may be opened: it could fence the true owner. Rejects with the reason of `signal`.
   */
  confirm(partition: number, signal: AbortSignal): Promise<void>;
  pause(partition: number): void;
  resume(partition: number): void;
  /** null while the started partition cannot be read, or was not read to its end so far. */
  end(partition: number): InputEnd | null;
  /** Leaves the group. No records are delivered afterwards. */
  stop(): Promise<void>;
}

export interface StreamLog {
  partitionCount(): Promise<number>;
  /** Reason why the log delays this client, in a sentence; null if it does not. */
  delayedBy(): string | null;
  subscribe(handlers: SubscriptionHandlers): Promise<Subscription>;
  /** `onFailure` receives each failure that is retried: while the partition is opened, and in calls of its session. */
  openPartition(partition: number, signal?: AbortSignal, onFailure?: (error: Error) => void): Promise<PartitionSession>;
  close(): Promise<void>;
}
