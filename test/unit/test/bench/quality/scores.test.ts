import assert from 'node:assert/strict';
import test from 'node:test';
import { LEVELS, lastValue, seasonalNaive, type TaskForecasts } from '../../../../bench/quality/forecasts.ts';
import { competitionScores, fileScores, meanRatio } from '../../../../bench/quality/scores.ts';
import type { QualityTask } from '../../../../bench/quality/tasks.ts';

const values = Float64Array.of(1, 2, 3, 5, 4, 6);
const normal = [true, true, true, true, true, false];
const series = [{ name: 'a', freq: 'h', season: 2, values, normal }];
const task: QualityTask = { name: 'm4_hourly', h: 2, series, points: [{ series: 0, cutoff: 4 }] };

/** The same interval at every level. */
function forecasts(mean: readonly number[], lo: readonly number[], hi: readonly number[]): TaskForecasts {
  const intervals = Object.fromEntries(LEVELS.map((level) => [level, [[lo], [hi]]]));
  return { mean: [mean], intervals: intervals as unknown as NonNullable<TaskForecasts['intervals']> };
}

test('naive forecasts are the last value and the last season', () => {
  assert.deepEqual([lastValue(task).mean, seasonalNaive(task).mean], [[[5, 5]], [[3, 5]]]);
});

test('errors of a competition are those of the forecast over those of the seasonal naive one within the history', () => {
  const { mase, wql, coverage } = competitionScores(task, seasonalNaive(task));
  // |4 - 3| and |6 - 5| over the mean of |3 - 1| and |5 - 2|; a point forecast has the weighted loss of its absolute
  // error.
  assert.deepEqual(mase, [1 / 2.5]);
  assert.ok(Math.abs(wql - 2 / 10) < 1e-12);
  assert.equal(coverage, null);
});

test('deciles are the bounds of the intervals and the median between them', () => {
  const { wql } = competitionScores(task, forecasts([4, 6], [3, 5], [5, 7]));
  // Each bound is off by 1: four deciles below with losses .2 .4 .6 .8, four above with the same.
  assert.ok(Math.abs(wql - (2 * 4) / 9 / 10) < 1e-12);
});

test('an interval covers the values in it and on its bounds', () => {
  assert.deepEqual(competitionScores(task, forecasts([0, 0], [4, 0], [4, 5])).coverage, [0.5, 0.5, 0.5]);
});

test('labelled anomalies do not count for coverage, and errors of a file have a least size', () => {
  const scores = fileScores({ ...task, name: 'nab' });
  assert.deepEqual(scores.coverage(forecasts([0, 0], [4, 0], [4, 5]), 2), [1, 1, 1]);
  const [exact] = scores.errors(forecasts([4, 6], [0, 0], [0, 0]), 2);
  assert.ok(exact > 0 && exact < 0.02);
  assert.deepEqual(scores.errors(seasonalNaive(task), 2), [1]);
});

test('ratios are averaged as ratios', () => {
  assert.ok(Math.abs(meanRatio([1, 4], [2, 2]) - 1) < 1e-12);
});
