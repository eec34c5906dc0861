import type { HistoryProblem, KeptScore } from '../../../history/port/history-port.ts';
import { LiveInput, stoppedText } from '../../../records/diagnostics/live-input.ts';
import { isSilence } from '../../../records/score-record.ts';

/** The step of a detector is measured on so many series, by so many distances. */
const SERIES_MAX = 16;
const DISTANCES_MAX = 15;
/** A detector that is behind the newest record by more steps receives nothing any more. */
const BEHIND_STEPS_MAX = 5.5;

interface MeasuredDetector {
  readonly newestOf: Map<string, number>;
  readonly distancesMs: number[];
  newestMs: number;
}

/**
 * Decides from the scores that are stored whether the input has stopped, by the rule of the workers. The steps are
 * measured: the service need not have the detectors file of the workers.
 */
export class StoredInput {
  readonly #input = new LiveInput();
  readonly #detectors = new Map<string, MeasuredDetector>();

  stored(scores: readonly KeptScore[], nowMs: number): void {
    let newestMs = Number.NEGATIVE_INFINITY;
    for (const score of scores) {
      if (isSilence(score)) continue;
      newestMs = Math.max(newestMs, score.timestampMs);
      this.#measure(score);
    }
    if (newestMs === Number.NEGATIVE_INFINITY) return;
    this.#input.expectStep(this.#shortestStepMs());
    this.#input.arrived(newestMs, nowMs);
  }

  /** The topics could not be read until now. */
  readable(nowMs: number): void {
    this.#input.readable(nowMs);
  }

  problem(nowMs: number): HistoryProblem | null {
    const stopped = this.#input.stopped(nowMs);
    return stopped && { reason: stoppedText(stopped), sinceMs: stopped.newestMs, due: stopped.due };
  }

  #measure({ detector, series, timestampMs }: KeptScore): void {
    let measured = this.#detectors.get(detector);
    if (measured === undefined) {
      measured = { newestOf: new Map(), distancesMs: [], newestMs: timestampMs };
      this.#detectors.set(detector, measured);
    }
    const { newestOf, distancesMs } = measured;
    measured.newestMs = Math.max(measured.newestMs, timestampMs);
    const beforeMs = newestOf.get(series);
    if (beforeMs === undefined && newestOf.size === SERIES_MAX) return;
    newestOf.set(series, timestampMs);
    if (beforeMs === undefined || timestampMs <= beforeMs) return;
    distancesMs.push(timestampMs - beforeMs);
    if (distancesMs.length > DISTANCES_MAX) distancesMs.shift();
  }

  /** NaN until two observations of a series have arrived. */
  #shortestStepMs(): number {
    const detectors = [...this.#detectors.values()];
    const newestMs = Math.max(...detectors.map((detector) => detector.newestMs));
    const stepsMs = detectors.flatMap((detector) => {
      const stepMs = medianOf(detector.distancesMs);
      return newestMs - detector.newestMs <= BEHIND_STEPS_MAX * stepMs ? [stepMs] : [];
    });
    return stepsMs.length === 0 ? Number.NaN : Math.min(...stepsMs);
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
