/** Scores of forecasts. */
import { LEVELS, type TaskForecasts } from './forecasts.ts';
import type { QualityPoint, QualityTask } from './tasks.ts';

export const COVERED_LEVELS = [80, 95, 99] as const;
/** Least error, as a share of the file's deviation: some series repeat exactly. */
const ERROR_SHARE_MIN = 0.01;

/** Scores of a task with one point a series. */
export interface CompetitionScores {
  /**
   * Mean absolute error over that of the seasonal naive forecast within the history, mean over series (Hyndman and
   * Koehler 2006).
   */
  readonly mase: readonly number[];
  /** Pinball loss of the nine deciles, twice its mean, over the sum of absolute values. */
  readonly wql: number;
  /** Share of the values inside the interval, by level; null without intervals. */
  readonly coverage: readonly number[] | null;
}

export function competitionScores(task: QualityTask, forecasts: TaskForecasts): CompetitionScores {
  let loss = 0;
  let total = 0;
  const mase = task.points.map((point, i) => {
    const actual = actualOf(task, point);
    const deciles = decilesOf(forecasts, i);
    actual.forEach((value, k) => {
      total += Math.abs(value);
      deciles.forEach((row, d) => {
        const error = value - row[k];
        const probability = (d + 1) / 10;
        loss += (2 * Math.max(probability * error, (probability - 1) * error)) / deciles.length;
      });
    });
    return meanError(actual, forecasts.mean[i], task.h) / seasonalError(task, point);
  });
  const { intervals } = forecasts;
  const coverage =
    intervals === null ? null : COVERED_LEVELS.map((level) => mean(insideShares(task, intervals[level], () => true)));
  return { mase, wql: loss / total, coverage };
}

/** Scores of a task with many points a file, by file. */
export interface FileScores {
  /** Mean absolute error of each file over the first `steps` steps. */
  errors(forecasts: TaskForecasts, steps: number): number[];
  /**
   * Share inside the interval of the values outside of labelled anomalies, over the first `steps`, mean over files, by
   * level.
   */
  coverage(forecasts: TaskForecasts, steps: number): readonly number[] | null;
}

export function fileScores(task: QualityTask): FileScores {
  const pointsOf = task.series.map((_, s) => [...task.points.keys()].filter((i) => task.points[i].series === s));
  return {
    errors: (forecasts, steps) =>
      task.series.map(({ values }, s) => {
        const error = mean(pointsOf[s].map((i) => meanError(actualOf(task, task.points[i]), forecasts.mean[i], steps)));
        return Math.max(error, ERROR_SHARE_MIN * deviation(values));
      }),
    coverage({ intervals }, steps) {
      if (intervals === null) return null;
      return COVERED_LEVELS.map((level) => {
        const isNormal = ({ series, cutoff }: QualityPoint, k: number) =>
          k < steps && task.series[series].normal[cutoff + k];
        const shares = insideShares(task, intervals[level], isNormal);
        return mean(pointsOf.map((of) => mean(of.map((i) => shares[i]).filter((share) => !Number.isNaN(share)))));
      });
    },
  };
}

/** Geometric mean of the ratios. */
export function meanRatio(ours: readonly number[], theirs: readonly number[]): number {
  return Math.exp(mean(ours.map((error, i) => Math.log(error / theirs[i]))));
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function actualOf({ series, h }: QualityTask, { series: s, cutoff }: QualityPoint): Float64Array {
  return series[s].values.subarray(cutoff, cutoff + h);
}

function meanError(actual: Float64Array, forecast: ArrayLike<number>, steps: number): number {
  return mean(Array.from({ length: steps }, (_, k) => Math.abs(actual[k] - forecast[k])));
}

function seasonalError({ series }: QualityTask, { series: s, cutoff }: QualityPoint): number {
  const { values, season } = series[s];
  return mean(Array.from({ length: cutoff - season }, (_, i) => Math.abs(values[i + season] - values[i])));
}

/** The nine deciles of a point; all equal the forecast where it has no intervals. */
function decilesOf({ mean: centre, intervals }: TaskForecasts, i: number): ArrayLike<number>[] {
  if (intervals === null) return new Array(9).fill(centre[i]);
  const levels = LEVELS.filter((level) => level <= 80);
  const lower = levels.toReversed().map((level) => intervals[level][0][i]);
  return [...lower, centre[i], ...levels.map((level) => intervals[level][1][i])];
}

/** Coverage of each point over its counted steps; NaN without any. */
function insideShares(
  task: QualityTask,
  [lo, hi]: readonly [readonly ArrayLike<number>[], readonly ArrayLike<number>[]],
  counts: (point: QualityPoint, k: number) => boolean,
): number[] {
  return task.points.map((point, i) => {
    const inside: number[] = [];
    actualOf(task, point).forEach((value, k) => {
      if (counts(point, k)) inside.push(value >= lo[i][k] && value <= hi[i][k] ? 1 : 0);
    });
    return mean(inside);
  });
}

function deviation(values: Float64Array): number {
  const centre = mean([...values]);
  return Math.sqrt(mean(Array.from(values, (value) => (value - centre) ** 2)));
}
