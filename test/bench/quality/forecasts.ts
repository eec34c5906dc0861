/** Forecasts of a task: those of the service, the model's own, and the naive ones. */

import { frequencyProfile } from '../../../src/api/models/frequency-profile.ts';
import {
  inputSettings,
  modelParams,
  type ServedModel,
  type ServedModels,
} from '../../../src/api/models/served-models.ts';
import { forecastWork } from '../../../src/api/tasks/task-work.ts';
import { forecastModelQuantiles, type ModelQuantiles } from '../../../src/forecasting/model-quantiles.ts';
import { normalQuantile } from '../../../src/forecasting/normal-distribution.ts';
import { intervalBounds, quantileFunction } from '../../../src/forecasting/quantiles.ts';
import type { QualityPoint, QualitySeries, QualityTask } from './tasks.ts';

/** Levels of the intervals: those with reported coverage, and those of the nine deciles. */
export const LEVELS = [20, 40, 60, 80, 95, 99] as const;
type Level = (typeof LEVELS)[number];

/** Rows of `h` numbers, one for each point of a task. */
export interface TaskForecasts {
  readonly mean: readonly ArrayLike<number>[];
  /** Lower and upper bounds by level; null for a forecast that has none. */
  readonly intervals: Readonly<Record<Level, readonly [Rows, Rows]>> | null;
}
type Rows = readonly ArrayLike<number>[];

/** Points of one request. */
const POINTS_MAX = 300;

/**
 * The answers of `POST /v2/forecast`, by its own code, to a client that sends as many values as `input_size` asks for.
 */
export async function servedForecasts(task: QualityTask, models: ServedModels, name: string): Promise<TaskForecasts> {
  const model = models.find(name)!;
  const mean = rowsOf(task);
  const intervals = boundRows(task);
  for (const { freq, indices } of alike(task)) {
    const { inputSize, horizon } = modelParams(model, frequencyProfile(freq));
    const kept = 3 * inputSize + Math.max(horizon, task.h);
    const sent = indices.map((i) => {
      const { series, cutoff } = task.points[i];
      return task.series[series].values.slice(Math.max(0, cutoff - kept), cutoff);
    });
    const work = forecastWork(
      {
        series: {
          y: Float64Array.from(sent.flatMap((values) => [...values])),
          sizes: sent.map(({ length }) => length),
        },
        freq,
        h: task.h,
        model: name,
        level: LEVELS.map((value) => ({ value, text: `${value}` })),
      },
      models,
    );
    const answer = await work.run(new AbortController().signal);
    const numbers = answer as { mean: ArrayLike<number>; intervals: Record<string, ArrayLike<number>> };
    indices.forEach((i, row) => {
      const of = (values: ArrayLike<number>) => Array.prototype.slice.call(values, row * task.h, (row + 1) * task.h);
      mean[i] = of(numbers.mean);
      for (const level of LEVELS) {
        intervals[level][0][i] = of(numbers.intervals[`lo-${level}`]);
        intervals[level][1][i] = of(numbers.intervals[`hi-${level}`]);
      }
    });
  }
  return { mean, intervals };
}

/** The model's own quantiles, from the same contexts. */
export async function ownForecasts(task: QualityTask, model: ServedModel): Promise<TaskForecasts> {
  const mean = rowsOf(task);
  const intervals = boundRows(task);
  const deviates = LEVELS.flatMap((level) => Object.values(intervalBounds(level)).map(normalQuantile));
  for (const { freq, indices } of alike(task)) {
    const points = indices.map((i) => ({ i, ...task.points[i], values: task.series[task.points[i].series].values }));
    const onForecast = ({ i }: { readonly i: number }, { values, levels, origin }: ModelQuantiles) => {
      const at = quantileFunction(levels, [0, ...deviates]);
      const row = (index: number) =>
        Array.from({ length: task.h }, (_, k) => at(values, k * levels.length, index, origin));
      mean[i] = row(0);
      LEVELS.forEach((level, l) => {
        intervals[level][0][i] = row(1 + 2 * l);
        intervals[level][1][i] = row(2 + 2 * l);
      });
    };
    const settings = {
      h: task.h,
      context: inputSettings(model, frequencyProfile(freq)).context,
      quantiles: 'all',
      onForecast,
    } as const;
    await forecastModelQuantiles(points, settings, { forecaster: model.forecaster });
  }
  return { mean, intervals };
}

export function lastValue(task: QualityTask): TaskForecasts {
  return naive(task, ({ values }, { cutoff }) => values[cutoff - 1]);
}

/** The last season repeated; all values where there is less than a season. */
export function seasonalNaive(task: QualityTask): TaskForecasts {
  return naive(task, ({ values, season }, { cutoff }, k) => {
    const length = Math.min(season, cutoff);
    return values[cutoff - length + (k % length)];
  });
}

function naive(
  { points, series, h }: QualityTask,
  valueAt: (series: QualitySeries, point: QualityPoint, k: number) => number,
): TaskForecasts {
  const mean = points.map((point) => Array.from({ length: h }, (_, k) => valueAt(series[point.series], point, k)));
  return { mean, intervals: null };
}

/** Points by the frequency of their series, in portions. */
function alike({ points, series }: QualityTask): { readonly freq: string; readonly indices: readonly number[] }[] {
  const byFreq = Map.groupBy(points.keys(), (i) => series[points[i].series].freq);
  return [...byFreq].flatMap(([freq, indices]) =>
    Array.from({ length: Math.ceil(indices.length / POINTS_MAX) }, (_, portion) => {
      return { freq, indices: indices.slice(portion * POINTS_MAX, (portion + 1) * POINTS_MAX) };
    }),
  );
}

function rowsOf({ points }: QualityTask): ArrayLike<number>[] {
  return new Array(points.length);
}

function boundRows(task: QualityTask) {
  type Bounds = Record<Level, readonly [ArrayLike<number>[], ArrayLike<number>[]]>;
  return Object.fromEntries(LEVELS.map((level) => [level, [rowsOf(task), rowsOf(task)]])) as unknown as Bounds;
}
