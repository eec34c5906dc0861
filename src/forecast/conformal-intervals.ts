/**
 * Intervals that hold what they promise, series by series: the model forecasts a few stretches of the very series that came before the cutoff, and
 * its quantiles are moved to where the values of those stretches fell (conformalised quantile regression: Romano, Patterson and Candes 2019).
 *
 * A value is scored by where it falls among the model's quantiles, as the deviate of the standard normal distribution: scores know no unit and no
 * horizon, so that all steps of all folds are pooled. Each of eight folds has a voice, and the model one and those of the folds that a short series
 * does not have: the fewer folds there are, the less they move.
 */
import { CONTEXT_MIN } from './context-length.ts';
import type { QuantileForecaster } from './forecaster.ts';
import { type ForecastPoint, forecastModelQuantiles } from './model-quantiles.ts';
import { normalQuantile } from './normal-distribution.ts';
import { deviateFunction } from './quantiles.ts';

/** Folds before a cutoff: more would say little more, and each costs as much as the forecast itself. */
export const FOLDS_MAX = 8;
/** A fold has at least these steps: those of a shorter horizon would be too few to learn from. */
const FOLD_STEPS_MIN = 8;
/** Folds lie within this many contexts before the cutoff, so that clients which cut a history lose none: they keep three contexts for the first. */
const FOLD_CONTEXTS = 2;
/** Further out a value tells no more than that it surprised: one outage must not widen every interval after it. */
const SCORE_MAX = 4;

interface Fold extends ForecastPoint {
  /** NaN where nothing was observed. */
  scores: Float32Array;
}

interface CalibrationSettings {
  readonly h: number;
  readonly context: number;
}

/** How many contexts before a cutoff a forecast of quantiles looks at. */
export function calibrationContexts(probabilities: readonly number[]): number {
  return probabilities.length === 0 ? 1 : 1 + FOLD_CONTEXTS;
}

/** Cutoffs of the folds before a cutoff, the newest first; each has its whole horizon before the next. */
export function calibrationCutoffs(cutoff: number, { h, context }: CalibrationSettings): number[] {
  const steps = foldSteps(h);
  const count = Math.min(FOLDS_MAX, Math.floor((FOLD_CONTEXTS * context) / steps));
  return Array.from({ length: count }, (_, i) => cutoff - (i + 1) * steps).filter((fold) => fold >= CONTEXT_MIN);
}

/**
 * How far out values before each point fell among the model's quantiles: absolute deviates, ascending, by the point's index. Folds that points
 * of one series share are forecast once.
 */
export async function conformityScores(
  points: readonly ForecastPoint[],
  settings: CalibrationSettings,
  forecaster: QuantileForecaster,
  signal: AbortSignal | undefined,
): Promise<(index: number) => Float32Array> {
  const steps = foldSteps(settings.h);
  const folds = new Map<ArrayLike<number>, Map<number, Fold>>();
  for (const point of points) {
    const ofSeries = folds.get(point.values) ?? new Map<number, Fold>();
    folds.set(point.values, ofSeries);
    for (const cutoff of calibrationCutoffs(point.cutoff, settings)) {
      if (ofSeries.has(cutoff)) continue;
      const time = point.time === undefined ? {} : { time: point.time - point.cutoff + cutoff };
      ofSeries.set(cutoff, { ...point, ...time, cutoff, scores: new Float32Array(0) });
    }
  }
  const all = [...folds.values()].flatMap((ofSeries) => [...ofSeries.values()]);
  const passes = { h: steps, context: settings.context, quantiles: 'all' } as const;
  await forecastModelQuantiles(all, passes, forecaster, signal, (fold, { values, levels, origin }) => {
    const targets = fold.targets ?? fold.values;
    const deviateAt = deviateFunction(levels);
    fold.scores = Float32Array.from({ length: steps }, (_, k) => {
      return Math.abs(deviateAt(values, k * levels.length, targets[fold.cutoff + k] - origin));
    });
  });
  return (index) => {
    const { values, cutoff } = points[index];
    const own = calibrationCutoffs(cutoff, settings).map((fold) => folds.get(values)!.get(fold)!.scores);
    const pooled = new Float32Array(own.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const scores of own) for (const score of scores) if (!Number.isNaN(score)) pooled[at++] = score;
    return pooled.subarray(0, at).sort();
  };
}

/**
 * Where among a model's quantiles those of the given probabilities are found: 0 at one half, and strictly increasing. The deviates of the scores
 * and those of the model itself are averaged, with a weight by how many folds the scores fill.
 * @param scores absolute deviates, ascending; at most those of all folds
 */
export function calibratedDeviates(probabilities: readonly number[], scores: Float32Array, h: number): number[] {
  const count = scores.length;
  const weight = count / ((FOLDS_MAX + 1) * foldSteps(h));
  return probabilities.map((probability) => {
    const own = normalQuantile(probability);
    if (count === 0 || own === 0) return own;
    const level = Math.abs(2 * probability - 1);
    return weight * Math.sign(own) * scoreAt(scores, level, Math.abs(own)) + (1 - weight) * own;
  });
}

/** The score of which the share `level` is not above: of n scores the k-th at k / (n + 1), on from the last as the normal distribution goes. */
function scoreAt(scores: Float32Array, level: number, deviate: number): number {
  const count = scores.length;
  const rank = level * (count + 1);
  const scored = (k: number) => (k === 0 ? 0 : Math.min(SCORE_MAX, scores[k - 1]));
  if (rank >= count) return (scored(count) * deviate) / normalQuantile((1 + count / (count + 1)) / 2);
  const below = Math.floor(rank);
  return scored(below) + (rank - below) * (scored(below + 1) - scored(below));
}

function foldSteps(h: number): number {
  return Math.max(h, FOLD_STEPS_MIN);
}
