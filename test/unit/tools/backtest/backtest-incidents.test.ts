import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DetectorConfig } from '../../../../src/config/config.ts';
import { parseFrequency } from '../../../../src/time/frequency.ts';
import { BacktestIncidents } from '../../../../src/tools/backtest/backtest-incidents.ts';
import { anomalyEvent } from '../../../fixture/stream/anomaly-event.ts';

const STEP = 60_000;
const START = Date.UTC(2026, 0, 1);
const ONSET = 400;
const ROWS = 420;
const detector = {
  name: 'd',
  settings: { freq: parseFrequency('min'), detectionSize: 24 },
} as unknown as DetectorConfig;

function eventOf(eventId: string, series: string, row: number, grade = 0.9) {
  const startedAtMs = START + row * STEP;
  return anomalyEvent({
    eventId,
    detector: 'd',
    series,
    startedAtMs,
    updatedAtMs: startedAtMs,
    grade,
    threshold: 0.6,
    labels: {},
  });
}

function backtest(): BacktestIncidents {
  const incidents = new BacktestIncidents([detector]);
  // The past of the fleet begins with an event.
  const past = eventOf('past', 'z/cpu', 0);
  incidents.addEvent(past);
  incidents.addEvent({ ...past, type: 'closed', revision: 1, endedAtMs: past.startedAtMs });
  return incidents;
}

test('the last line of an incident has all of its events, and the origins of its last record', () => {
  const incidents = backtest();
  incidents.addEvent(eventOf('one', 'a/cpu', ONSET));
  incidents.addEvent(eventOf('two', 'a/mem', ONSET));
  const line = incidents.lines().at(-1)!;
  assert.deepEqual(
    [line.id, line.kind, line.events, line.series],
    ['one', 'related', ['one', 'two'], ['a/cpu', 'a/mem']],
  );
  assert.equal(line.startedAt, new Date(START + ONSET * STEP).toISOString());
  const commons = line.origins.map(({ common }) => common);
  assert.deepEqual(commons, ['a']);
  assert.match(line.summary, /likely origin a$/);
});

test('an event without related events is in the file while it is open, if it is far beyond its threshold', () => {
  const incidents = backtest();
  const one = eventOf('one', 'b/cpu', ONSET);
  incidents.addEvent(one);
  incidents.addEvent(eventOf('near', 'c/cpu', ONSET - 100, 0.75));
  const ids = () => incidents.lines().map(({ id }) => id);
  assert.deepEqual(ids(), ['one']);
  const updatedAtMs = one.startedAtMs + 10 * STEP;
  incidents.addEvent({ ...one, type: 'closed', revision: 1, endedAtMs: updatedAtMs, updatedAtMs, observations: 11 });
  incidents.addEvent(eventOf('later', 'd/cpu', ROWS - 1, 0.75));
  assert.deepEqual(ids(), []);
});

test('what passed within a few rows is left out', () => {
  const incidents = backtest();
  for (const [id, series] of [
    ['one', 'a/cpu'],
    ['two', 'a/mem'],
  ] as const) {
    const event = eventOf(id, series, ONSET);
    incidents.addEvent(event);
    incidents.addEvent({ ...event, type: 'closed', revision: 1, endedAtMs: event.startedAtMs, observations: 3 });
  }
  incidents.addEvent(eventOf('later', 'c/cpu', ROWS - 1, 0.75));
  assert.deepEqual(incidents.lines(), []);
});
