/** The score of the Numenta Anomaly Benchmark as it defines it (Lavin and Ahmad 2015; its scorer.py and sweeper.py). */
import type { Segment } from './event-segments.ts';

/** What detections are worth: `fp` for each row that is none, `fn` for each incident that is missed. */
export interface NabProfile {
  readonly tp: number;
  readonly fp: number;
  readonly fn: number;
}

export interface NabFile {
  readonly name: string;
  /** Larger is more anomalous; NaN where a row is not scored. */
  readonly scores: Float64Array;
  /** Labelled windows, ascending. */
  readonly windows: readonly Segment[];
}

const PROBATION_SHARE = 0.15;
/** Longer files have no longer probation. */
const PROBATION_ROWS = 5_000;

/** Rows at the start of a file in which detections do not count. */
export function probationRows(length: number): number {
  return Math.min(Math.floor(PROBATION_SHARE * length), PROBATION_SHARE * PROBATION_ROWS);
}

/** A row that may be detected, and what that is worth. */
interface Detection {
  readonly score: number;
  readonly worth: number;
  /** The incident that it finds, a number among all files; -1: none. */
  readonly incident: number;
}

/** Scores of all thresholds, normalised: 0 where nothing is detected, 100 where each incident is found at once. */
export class NabSweep {
  readonly #detections: readonly Detection[];
  readonly #incidents: number;
  readonly #profile: NabProfile;

  constructor(files: readonly NabFile[], profile: NabProfile) {
    this.#profile = profile;
    let incidents = 0;
    this.#detections = files
      .flatMap((file) => {
        const before = incidents;
        incidents += file.windows.length;
        return detectionsOf(file, before, profile);
      })
      .sort((a, b) => b.score - a.score);
    this.#incidents = incidents;
  }

  /** Rows whose score is at least `threshold` are detected. */
  scoreAt(threshold: number): number {
    let score = 0;
    for (const { score: found } of this.#steps(threshold)) score = found;
    return score;
  }

  /** The threshold with the largest score; the largest of them where there are several. */
  best(): { readonly threshold: number; readonly score: number } {
    let best = { threshold: Number.POSITIVE_INFINITY, score: 0 };
    for (const step of this.#steps(Number.NEGATIVE_INFINITY)) if (step.score > best.score) best = step;
    return best;
  }

  /** Every threshold down to `lowest`, and the normalised score that it gives. */
  *#steps(lowest: number): Generator<{ readonly threshold: number; readonly score: number }> {
    const { tp, fn } = this.#profile;
    const worth = new Float64Array(this.#incidents).fill(-fn);
    const missed = -fn * this.#incidents;
    let sum = missed;
    for (const [i, { score, worth: own, incident }] of this.#detections.entries()) {
      if (score < lowest) return;
      if (incident < 0) sum += own;
      else if (own > worth[incident]) {
        sum += own - worth[incident];
        worth[incident] = own;
      }
      if (score === this.#detections[i + 1]?.score) continue;
      yield { threshold: score, score: (100 * (sum - missed)) / (tp * this.#incidents - missed) };
    }
  }
}

/** Outside of windows a detection costs the more the further behind the last window it is. */
function detectionsOf({ scores, windows }: NabFile, firstIncident: number, { tp, fp }: NabProfile): Detection[] {
  const detections: Detection[] = [];
  let next = 0;
  for (let row = 0; row < scores.length; row++) {
    while (next < windows.length && row >= windows[next].end) next++;
    if (row < probationRows(scores.length) || Number.isNaN(scores[row])) continue;
    const score = scores[row];
    const window = windows[next];
    const past = windows[next - 1];
    if (window !== undefined && row >= window.start) {
      const position = -(window.end - row) / (window.end - window.start);
      detections.push({
        score,
        worth: (tp * scaledSigmoid(position)) / scaledSigmoid(-1),
        incident: firstIncident + next,
      });
    } else {
      const behind = past === undefined ? Infinity : (row - (past.end - 1)) / (past.end - past.start - 1);
      detections.push({ score, worth: fp * scaledSigmoid(behind), incident: -1 });
    }
  }
  return detections;
}

/** 1 well before the end of a window, 0 at its end, -1 well behind. */
function scaledSigmoid(position: number): number {
  return position >= 3 ? -1 : 2 / (1 + Math.exp(5 * position)) - 1;
}
