import type { ServiceError } from '../../../service-error.ts';
import type { FetchedPartition } from './fetch.ts';

const RETRY_MS_MIN = 50;
export const FETCH_RETRY_MS_MAX = 1_000;

/**
 * The position in a partition, and its own back-off. Every start makes a new object, so that responses for an older
 * one are discarded.
 */
export class PartitionReading {
  readonly partition: number;
  offset: number;
  /** The id of the topic that `offset` belongs to; null where it is not known. */
  topicId: string | null;
  paused = false;
  /** Fetched while paused. It is delivered at resume, and nothing is fetched before. */
  held: FetchedPartition | null = null;
  /** Why the partition makes no progress. Set once the back-off has reached its maximum. */
  stalled: ServiceError | null = null;
  #retryMs = RETRY_MS_MIN;
  #retry: NodeJS.Timeout | null = null;

  constructor(partition: number, offset: number, topicId: string | null) {
    this.partition = partition;
    this.offset = offset;
    this.topicId = topicId;
  }

  /** Whether it is to be part of the next fetch. */
  get fetchable(): boolean {
    return !this.paused && this.held === null && this.#retry === null;
  }

  /** The last fetch succeeded. Returns whether the partition was stalled. */
  recovered(): boolean {
    const wasStalled = this.stalled !== null;
    this.#retryMs = RETRY_MS_MIN;
    this.stalled = null;
    return wasStalled;
  }

  /**
   * Leaves the partition out of fetches for a while, which grows with each failure. Returns whether it became
   * stalled.
   */
  backOff(failure: ServiceError, retry: () => void): boolean {
    const becameStalled = this.stalled === null && this.#retryMs === FETCH_RETRY_MS_MAX;
    if (becameStalled) this.stalled = failure;
    this.cancelRetry();
    this.#retry = setTimeout(() => {
      this.#retry = null;
      retry();
    }, this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, FETCH_RETRY_MS_MAX);
    return becameStalled;
  }

  cancelRetry(): void {
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
  }
}
