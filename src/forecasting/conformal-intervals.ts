/**
 * Conformal intervals, calibrated on each series: the model forecasts a few folds of the series before the cutoff, and
 * its quantiles are moved to where the observations of those folds fell (conformalised quantile regression: Romano,
 * Patterson and Candes 2019).
 *
 * The conformity score of an observation is the standard normal deviate at which it lies among the model's quantiles.
 * Scores have no unit and no horizon, so all steps of all folds are pooled. The calibrated deviate is a weighted mean:
 * each of eight folds has weight one, and the model's own deviate has weight one plus that of missing folds. The fewer
 * folds, the smaller the correction.
 */
import { CONTEXT_MIN } from './context-length.ts';
import type { Inference } from './forecaster.ts';
import { type ForecastPoint, forecastModelQuantiles } from './model-quantiles.ts';
import { normalQuantile } from './normal-distribution.ts';
import { deviateFunction } from './quantiles.ts';

/** Folds before a cutoff. More add little, and each costs as much as the forecast itself. */
export const FOLDS_MAX = 8;
/** Shortest horizon of a fold: shorter ones give too few scores. */
const FOLD_STEPS_MIN = 8;
/**
 * Folds are within this many contexts before the cutoff. Clients cut histories to three contexts; the first fold needs
 * one of them.
 */
const FOLD_CONTEXTS = 2;
/** Scores are clipped, so that one outage does not widen every later interval. */
const SCORE_MAX = 4;

interface Fold extends ForecastPoint {
  /** NaN if nothing was observed. */
  scores: Float32Array;
}

interface CalibrationSettings {
  readonly h: number;
  readonly context: number;
}

/** Number of contexts before a cutoff that a forecast of quantiles depends on. */
export function calibrationContexts(probabilities: readonly number[]): number {
  return probabilities.length === 0 ? 1 : 1 + FOLD_CONTEXTS;
}

/** Cutoffs of the calibration folds, the newest first. Their horizons do not overlap. */
export function calibrationCutoffs(cutoff: number, { h, context }: CalibrationSettings): number[] {
  const steps = foldSteps(h);
  const count = Math.min(FOLDS_MAX, Math.floor((FOLD_CONTEXTS * context) / steps));
  return Array.from({ length: count }, (_, i) => cutoff - (i + 1) * steps).filter((fold) => fold >= CONTEXT_MIN);
}

/**
 * Absolute conformity scores before each point, ascending, by the point's index. Folds that points of one series share
 * are forecast once.
 */
export async function conformityScores(
  points: readonly ForecastPoint[],
  settings: CalibrationSettings,
  inference: Inference,
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
  await forecastModelQuantiles(
    all,
    {
      h: steps,
      context: settings.context,
      quantiles: 'all',
      onForecast(fold, { values, levels, origin }) {
        const targets = fold.targets ?? fold.values;
        const deviateAt = deviateFunction(levels);
        fold.scores = Float32Array.from({ length: steps }, (_, k) => {
          return Math.abs(deviateAt(values, k * levels.length, targets[fold.cutoff + k] - origin));
        });
      },
    },
    inference,
  );
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
 * The deviates at which the calibrated quantiles lie among those of the model: 0 for the median, strictly increasing.
 * They are means of the deviates of the scores and of the model, weighted by the number of scores.
 * @param scores absolute scores, ascending; at most those of all folds
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

/**
 * The empirical quantile `level` of the scores: the k-th of n lies at k / (n + 1). Beyond the last it is extrapolated
 * as a normal tail.
 */
function scoreAt(scores: Float32Array, level: number, deviate: number): number {
  const count = scores.length;
  const rank = level * (count + 1);
  const clipped = (k: number) => (k === 0 ? 0 : Math.min(SCORE_MAX, scores[k - 1]));
  if (rank >= count) return (clipped(count) * deviate) / normalQuantile((1 + count / (count + 1)) / 2);
  const below = Math.floor(rank);
  return clipped(below) + (rank - below) * (clipped(below + 1) - clipped(below));
}

function foldSteps(h: number): number {
  return Math.max(h, FOLD_STEPS_MIN);
}
