import type { ServiceError } from '../../ops/service-error.ts';
import type { FetchedPartition, FetchPosition } from './fetch.ts';

const RETRY_MS_MIN = 50;
export const FETCH_RETRY_MS_MAX = 500;
/** A transaction of a producer may be open for so long before a partition that waits for its end counts as stalled. */
const OPEN_TRANSACTION_MS_MAX = 4_000;

/** Follows a partition that can be read. After a failure there is another one: time may have passed unseen. */
export interface InputEnd {
  /** Number of fetches after which nothing was left to read. */
  readonly answers: number;
}

/**
 * The position in a partition, and its own back-off. Every start makes a new object, so that responses for an older
 * one are discarded.
 */
export class PartitionReading {
  readonly partition: number;
  offset: number;
  /** The id of the topic that `offset` belongs to; null if it is not known. */
  topicId: string | null;
  paused = false;
  /** The leader epoch under which the leader's log was found to hold `offset`; null: none yet. */
  checkedEpoch: number | null = null;
  checking = false;
  /** Fetched while paused. It is delivered at resume, and nothing is fetched before. */
  held: FetchedPartition | null = null;
  /** Reason why the partition makes no progress. Set once the back-off has reached its maximum. */
  stalled: ServiceError | null = null;
  #retryMs = RETRY_MS_MIN;
  /** Since when all that is left to read waits for a transaction to end; null: it does not. */
  #waitsSinceMs: number | null = null;
  #retry: NodeJS.Timeout | null = null;
  #end: { answers: number } | null = null;

  constructor(partition: number, offset: number, topicId: string | null) {
    this.partition = partition;
    this.offset = offset;
    this.topicId = topicId;
  }

  /** True if it is to be part of the next fetch. */
  get fetchable(): boolean {
    return !this.paused && !this.checking && this.held === null && this.#retry === null;
  }

  /**
   * Whether the leader of this epoch may be fetched from. Otherwise it has to confirm first that its log holds the
   * position, which follows a record of `epoch`. Epochs that are not known (-1) cannot be compared.
   */
  isChecked(leaderEpoch: number, epoch: number): boolean {
    if (epoch < 0 || leaderEpoch < 0 || epoch === leaderEpoch) this.checkedEpoch = leaderEpoch;
    return this.checkedEpoch === leaderEpoch;
  }

  /** null since the last failure if no fetch has reached the end of the partition. */
  get end(): InputEnd | null {
    return this.#end;
  }

  /** The last fetch succeeded. Returns whether the partition was stalled. */
  recovered({ errorCode, endOffset }: FetchedPartition): boolean {
    if (errorCode === 0 && this.offset >= endOffset) {
      this.#end ??= { answers: 0 };
      this.#end.answers++;
    }
    const wasStalled = this.stalled !== null;
    this.#retryMs = RETRY_MS_MIN;
    this.stalled = null;
    return wasStalled;
  }

  /** True if a transaction has been open for too long at the position: there are records, and none may be read. */
  waitsForTransaction({ records, lastStableOffset, endOffset }: FetchedPartition, nowMs: number): boolean {
    const waits = records.length === 0 && this.offset >= lastStableOffset && lastStableOffset < endOffset;
    this.#waitsSinceMs = waits ? (this.#waitsSinceMs ?? nowMs) : null;
    return this.#waitsSinceMs !== null && nowMs - this.#waitsSinceMs > OPEN_TRANSACTION_MS_MAX;
  }

  /** Returns whether it became stalled. */
  stall(failure: ServiceError): boolean {
    const isNew = this.stalled === null;
    this.failed();
    this.stalled ??= failure;
    return isNew;
  }

  /**
   * Leaves the partition out of fetches for a while, which grows with each failure. Returns whether it became
   * stalled.
   */
  backOff(failure: ServiceError, retry: () => void): boolean {
    this.failed();
    const becameStalled = this.#retryMs === FETCH_RETRY_MS_MAX && this.stall(failure);
    this.cancelRetry();
    this.#retry = setTimeout(() => {
      this.#retry = null;
      retry();
    }, this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, FETCH_RETRY_MS_MAX);
    return becameStalled;
  }

  failed(): void {
    this.#end = null;
  }

  cancelRetry(): void {
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
  }
}

/** A partition of a fetch that is in flight. */
export interface SentPartition {
  readonly reading: PartitionReading;
  /** Epoch of the leader that received the request. */
  readonly epoch: number | null;
}

/** Brokers fill a response in the order of the request, so each fetch begins with another partition. */
export function positionsInTurn(readings: readonly PartitionReading[], turn: number): FetchPosition[] {
  const first = turn % readings.length;
  return [...readings.slice(first), ...readings.slice(0, first)].map(({ partition, offset, checkedEpoch }) => ({
    partition,
    offset,
    leaderEpoch: checkedEpoch ?? -1,
  }));
}
