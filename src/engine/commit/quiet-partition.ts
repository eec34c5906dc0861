import type { PartitionState } from '../state/partition-state.ts';
import type { PendingCommit } from './pending-commit.ts';

/** Timers do not take more than 24 days: after an hour it is looked again. */
const WAIT_MS_MAX = 3_600_000;

/**
 * Decides by the clock that series of a partition are silent: if no observation arrives at all, event time does not
 * move. Records that are refused, or late, do not count. The decision is committed with its records and state, so that
 * a restore finds it and does not decide again.
 */
export class QuietPartition {
  readonly #nowMs: () => number;
  #lastSeenMs: number;
  /** Time without an observation after which the next series are silent; null: none is. */
  #nextMs: number | null = 0;

  /** @param nowMs a clock; its differences count */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#lastSeenMs = nowMs();
  }

  /** Observations of series arrived. */
  reset(): void {
    this.#lastSeenMs = this.#nowMs();
    this.#nextMs = 0;
  }

  /** Time that nothing may arrive until there is something to report; null: for ever. */
  get waitMs(): number | null {
    if (this.#nextMs === null) return null;
    return Math.min(WAIT_MS_MAX, this.#nextMs - (this.#nowMs() - this.#lastSeenMs));
  }

  async report(state: PartitionState, pending: PendingCommit, signal: AbortSignal): Promise<void> {
    const quietMs = this.#nowMs() - this.#lastSeenMs;
    this.#nextMs = await state.reportQuiet(quietMs, { offset: pending.nextOffset, sink: pending }, signal);
  }
}
