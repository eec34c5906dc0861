import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BacktestEvents } from '../../../../src/tools/backtest/backtest-events.ts';
import { anomalyEvent } from '../../../fixture/stream/anomaly-event.ts';
import { scoreRecord } from '../../../fixture/stream/score-record.ts';
import { detectorConfig, streamSettings } from '../../../fixture/stream/stream-run.ts';

const detector = detectorConfig({ name: 'cpu', settings: streamSettings({ alarmRate: 0.01 }) });

test('the most severe events are listed in order of time, and the others counted', () => {
  const events = new BacktestEvents([detector]);
  for (let i = 0; i < 23; i++) {
    const eventId = String(i);
    const startedAtMs = Date.UTC(2026, 0, 1, 23 - i);
    events.revisions.push(anomalyEvent({ eventId, startedAtMs, severity: i }));
    events.revisions.push(anomalyEvent({ eventId, startedAtMs, severity: i, type: 'closed', revision: 1 }));
  }
  const lines = events.lines();
  assert.equal(lines.length, 22);
  assert.match(lines[0], /^ {2}2026-01-01 01:00:00 {2}closed/);
  assert.match(lines[19], /^ {2}2026-01-01 20:00:00 {2}closed/);
  assert.deepEqual(lines.slice(20), ['and 3 less severe events', '23 events; false alarms to expect: 0.0']);
});

test('false alarms to expect are those of every judged row, once for all members of a group', () => {
  const events = new BacktestEvents([detector]);
  const row = (series: string, group: string | null, minute: number, grade: number | null = 0.1) =>
    scoreRecord({ series, group, grade, timestampMs: minute * 60_000 });
  const rows = Array.from({ length: 100 }, (_, minute) => [
    row('alone', null, minute),
    row('a', 'g', minute),
    row('b', 'g', minute),
    row('new', null, minute, null),
  ]);
  events.addScores(rows.flat());
  assert.deepEqual(events.lines(), ['0 events; false alarms to expect: 2.0']);
});
