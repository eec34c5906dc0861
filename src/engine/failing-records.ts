import { ServiceError } from '../ops/service-error.ts';
import type { TriedRecords } from './strategy/partition-strategy.ts';

/** After so many failing records in a row the fault is not in the records: then none is set aside any more. */
export const FAILING_IN_A_ROW_MAX = 10;

/**
 * Finds a record whose scoring fails unexpectedly, and would again. The transaction is halved until the record fails
 * alone; then it becomes a dead letter, and the others are scored as before.
 */
export class FailingRecords {
  readonly #found = new Map<number, string>();
  #recordsMax = Number.POSITIVE_INFINITY;
  /** The search ends when everything before this offset is committed. */
  #until = 0;
  #inARow = 0;

  get recordsMax(): number {
    return this.#recordsMax;
  }

  /** Reason why a record failed alone; null if it did not. */
  whyFailed(offset: number): string | null {
    return this.#found.get(offset) ?? null;
  }

  /** Notes that a transaction failed. Returns the offset of the failing record once it is found. */
  failed({ records, nextOffset }: TriedRecords, error: Error): number | null {
    // A transaction of what time alone decided has no records.
    if (records === 0) return null;
    this.#until = Math.max(this.#until, nextOffset);
    if (records > 1) {
      this.#recordsMax = Math.floor(records / 2);
      return null;
    }
    this.#recordsMax = 1;
    if (this.#inARow === FAILING_IN_A_ROW_MAX) return null;
    this.#inARow++;
    this.#found.set(nextOffset - 1, error.message);
    return nextOffset - 1;
  }

  committed(nextOffset: number): void {
    if (this.#found.size === 0 && nextOffset < this.#until) return;
    if (!this.#found.has(nextOffset - 1)) this.#inARow = 0;
    for (const offset of this.#found.keys()) if (offset < nextOffset) this.#found.delete(offset);
    if (nextOffset >= this.#until) this.#recordsMax = Number.POSITIVE_INFINITY;
  }
}

/**
 * Whether the records may be to blame: an unexpected error, or a record that the broker refuses for its size
 * or its timestamp.
 */
export function isRecordFailure(error: Error): boolean {
  return !(error instanceof ServiceError) || error.code === 'record-too-large' || error.code === 'record-refused';
}

/**
 * Whether the process has to end. Unexpected errors concern one partition: ending would move them to the next
 * worker, and from there to all. Fencing is recoverable: a later owner took over the partition.
 */
export function isFatal(error: Error): boolean {
  return error instanceof ServiceError && !error.retryable && error.code !== 'fenced' && !isRecordFailure(error);
}
