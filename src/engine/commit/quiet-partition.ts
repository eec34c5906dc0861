import type { DetectorTimes, Quiet } from '../arrival/detector-times.ts';
import type { InputEnd } from '../log/log.ts';
import type { PartitionState } from '../state/partition-state.ts';
import type { Outlet } from '../state/partition-units.ts';

/** Timers do not take more than 24 days: after an hour it is looked again. */
const WAIT_MS_MAX = 3_600_000;
/** Interval at which the answers of the log are counted. */
const ANSWER_MS = 100;
/** The later of two answers in a row was requested after the first one. */
const ANSWERS = 2;
/** A log that needs longer for them counts as unreachable. */
const ANSWERS_MS_MAX = 10_000;
/** Other partitions count from then on: what was sent before their newest records is delivered by then. */
const SETTLED_MS = 30_000;

interface QuietOptions {
  readonly partition: number;
  /** A clock; its differences count. */
  readonly nowMs: () => number;
  readonly times: DetectorTimes;
  readonly inputEnd: () => InputEnd | null;
}

/**
 * Decides by the clock that series of a partition are silent: if no observation arrives at all, event time does not
 * move. Records that are refused, or late, do not count. The decision is committed with its records and state, so that
 * a restore finds it and does not decide again.
 *
 * Time counts only while the log answers that nothing is left to read, and the log confirms it before each decision: a
 * partition whose broker is away shows nothing of its series.
 */
export class QuietPartition {
  readonly #options: QuietOptions;
  #lastSeenMs: number;
  /** Time without an observation after which the next series may be silent; null: none is. */
  #nextMs: number | null = 0;
  #end: InputEnd | null = null;
  /** Event times elsewhere once the partition had settled. */
  #settled: Map<object, number> | null = null;
  /** To be decided when the log has answered so often. */
  #asked: (Quiet & { readonly answers: number }) | null = null;

  constructor(options: QuietOptions) {
    this.#options = options;
    this.#lastSeenMs = options.nowMs();
  }

  /** Observations of series arrived. */
  reset(): void {
    this.#lastSeenMs = this.#options.nowMs();
    this.#nextMs = 0;
    this.#settled = null;
    this.#asked = null;
  }

  /** Time that nothing may arrive until there is something to do; null: for ever. */
  get waitMs(): number | null {
    if (this.#nextMs === null) return null;
    if (this.#asked === null) return Math.min(WAIT_MS_MAX, this.#nextMs - this.#quietMs);
    const end = this.#options.inputEnd();
    return end === this.#end && (end?.answers ?? 0) < this.#asked.answers ? ANSWER_MS : 0;
  }

  get #quietMs(): number {
    return this.#options.nowMs() - this.#lastSeenMs;
  }

  async report(state: PartitionState, outlet: Outlet, signal: AbortSignal): Promise<void> {
    const end = this.#options.inputEnd();
    if (end === null || end !== this.#end) {
      this.#end = end;
      this.reset();
      if (end === null) this.#nextMs = ANSWER_MS;
    } else if (this.#asked === null) this.#asked = this.#ask(end);
    else if (end.answers < this.#asked.answers) return;
    else if (this.#quietMs - this.#asked.quietMs > ANSWERS_MS_MAX) this.reset();
    else {
      const nextMs = await state.reportQuiet(this.#asked, outlet, signal);
      const isSettling = nextMs !== null && this.#settled === null;
      this.#nextMs = isSettling ? Math.min(nextMs, Math.max(SETTLED_MS, this.#asked.quietMs)) : nextMs;
      this.#asked = null;
    }
  }

  #ask({ answers }: InputEnd): Quiet & { readonly answers: number } {
    const { partition, times } = this.#options;
    const quietMs = this.#quietMs;
    if (quietMs >= SETTLED_MS) this.#settled ??= new Map();
    return { quietMs, elsewhere: times.elsewhere(partition, this.#settled), answers: answers + ANSWERS };
  }
}
