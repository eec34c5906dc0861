import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scoreMetrics } from '../../../../src/pipelines/remote-write/score-exposition.ts';
import { anomalyEvent, keptScore } from '../../../fixture/history/kept-records.ts';

const NOTHING = { series: [], seriesTotal: 0, events: [], eventsTotal: 0 };
const row = (series: string, changes: Parameters<typeof keptScore>[1] = {}) => ({
  ...keptScore(1, { series, timestampMs: 5_500, forecast: 4, lo: 3, hi: 5.5, grade: 0.25, ...changes }),
  recent: [],
});
const samplesOf = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

test('a series has the gauges of its newest score, and those of numbers that are there', () => {
  const series = [row('up{job="a"}'), row('b"\\\n', { forecast: null, lo: null, hi: null, grade: null })];
  const text = scoreMetrics({ ...NOTHING, series, seriesTotal: 5, eventsTotal: 3 });
  assert.match(text, /^# HELP tidewatch_grade .+\n# TYPE tidewatch_grade gauge\ntidewatch_grade\{/);
  assert.deepEqual(samplesOf(text), [
    'tidewatch_grade{detector="metrics",job="a",metric="up",instance=""} 0.25',
    'tidewatch_expected{detector="metrics",job="a",metric="up",instance=""} 4',
    'tidewatch_lower{detector="metrics",job="a",metric="up",instance=""} 3',
    'tidewatch_upper{detector="metrics",job="a",metric="up",instance=""} 5.5',
    'tidewatch_scored_time_seconds{detector="metrics",job="a",metric="up",instance=""} 5.5',
    'tidewatch_scored_time_seconds{detector="metrics",metric="b\\"\\\\\\n",instance="",job=""} 5.5',
    'tidewatch_scores_left_out{what="series"} 3',
    'tidewatch_scores_left_out{what="events"} 3',
  ]);
});

test('an open event is of its series, its group, or its whole detector, and is there once', () => {
  const open = (changes: Parameters<typeof anomalyEvent>[1]) => anomalyEvent('e', changes);
  const events = [
    open({ series: 'up{job="a"}' }),
    open({ series: 'up{job="a"}', eventId: 'another' }),
    open({ series: null, group: 'hosts', kind: 'drift', seriesLabels: { job: 'node' } }),
    open({ series: null, kind: 'silence' }),
  ];
  const lines = samplesOf(scoreMetrics({ ...NOTHING, events, eventsTotal: 4 }));
  assert.deepEqual(lines.slice(0, -2), [
    'tidewatch_open_event{detector="metrics",job="a",kind="spike",metric="up",instance=""} 1',
    'tidewatch_open_event{detector="metrics",group="hosts",job="node",kind="drift",instance=""} 1',
    'tidewatch_open_event{detector="metrics",kind="silence",instance="",job=""} 1',
  ]);
});
