import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SeriesNow } from '../../../../../src/api/wire/schema/operations/history-schema.ts';
import { POINTS_MAX, withArrived } from '../../../../../src/console/view/scores/score-buffer.ts';
import { NO_SCORES } from '../../../../../src/console/view/scores/shown-scores.ts';

const score = (at: number): SeriesNow => {
  return {
    series: 's',
    timestampMs: at,
    anomalyScore: 0,
    detector: 'web',
    group: null,
    value: at,
    forecast: 1,
    lo: 0,
    hi: 2,
    grade: 0.1,
    severity: 0,
    alarm: false,
    anomaly: false,
    state: 'scored',
  };
};

test('scores that are there already change nothing', () => {
  const columns = withArrived(NO_SCORES, [score(1), score(2)]);
  assert.equal(withArrived(columns, [score(1), score(2)]), columns);
  assert.deepEqual(withArrived(columns, [score(2), score(3)]).timestampMs, [1, 2, 3]);
});

test('the oldest points go when there are too many', () => {
  const all = Array.from({ length: POINTS_MAX }, (_, i) => score(i));
  const {
    timestampMs: at,
    value,
    alarms,
  } = withArrived(withArrived(NO_SCORES, all), [score(POINTS_MAX), score(POINTS_MAX + 1)]);
  assert.deepEqual([at.length, value.length, alarms.length], [POINTS_MAX, POINTS_MAX, POINTS_MAX]);
  assert.deepEqual([at[0], at.at(-1)], [2, POINTS_MAX + 1]);
});
