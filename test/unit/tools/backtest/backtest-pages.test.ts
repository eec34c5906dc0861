import assert from 'node:assert/strict';
import { test } from 'node:test';
import Value from 'typebox/value';
import { backtestTokens } from '../../../../src/api/operations/scoring-price.ts';
import { BacktestAnswer } from '../../../../src/api/wire/schema/operations/backtest-schema.ts';
import { BacktestPages } from '../../../../src/tools/backtest/backtest-pages.ts';
import { anomalyEvent } from '../../../fixture/stream/anomaly-event.ts';
import { scoreRecord } from '../../../fixture/stream/score-record.ts';

test('a report has scores and events by the names that HTTP describes', () => {
  const pages = new BacktestPages([]);
  pages.add([scoreRecord(), scoreRecord({ forecast: Number.NaN, alarm: false }), scoreRecord({ state: 'silent' })]);
  pages.addEvent(anomalyEvent({ revision: 0 }));
  pages.addEvent(anomalyEvent({ revision: 1 }));
  const report = pages.data('Backtest of past.csv');
  assert.equal(Value.Check(BacktestAnswer, { kind: 'report', report, notes: [], ...backtestTokens(2) }), true);
  const [{ scores }] = report.series;
  assert.deepEqual(
    [scores.forecast, scores.alarms],
    [
      [42, null],
      [1, 0],
    ],
  );
  const actual = report.events.map(({ revision, startedAtMs, acknowledged }) => [revision, startedAtMs, acknowledged]);
  assert.deepEqual(actual, [[1, anomalyEvent().startedAtMs, null]]);
});
