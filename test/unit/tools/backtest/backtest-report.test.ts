import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BacktestLabels, isLabelled } from '../../../../src/tools/backtest/backtest-labels.ts';
import { BacktestReport } from '../../../../src/tools/backtest/backtest-report.ts';
import { anomalyEvent } from '../../../fixture/stream/anomaly-event.ts';
import { scoreRecord } from '../../../fixture/stream/score-record.ts';
import { detectorConfig, streamSettings } from '../../../fixture/stream/stream-run.ts';

const detector = detectorConfig({ name: 'cpu', settings: streamSettings({ alarmRate: 0.01 }) });

test('the most severe events are listed in order of time, and the others counted', () => {
  const report = new BacktestReport([detector]);
  for (let i = 0; i < 23; i++) {
    const eventId = String(i);
    const startedAtMs = Date.UTC(2026, 0, 1, 23 - i);
    report.revisions.push(anomalyEvent({ eventId, startedAtMs, severity: i }));
    report.revisions.push(anomalyEvent({ eventId, startedAtMs, severity: i, type: 'closed', revision: 1 }));
  }
  const lines = report.eventLines();
  assert.equal(lines.length, 22);
  assert.match(lines[0], /^ {2}2026-01-01 01:00:00 {2}closed/);
  assert.match(lines[19], /^ {2}2026-01-01 20:00:00 {2}closed/);
  assert.deepEqual(lines.slice(20), ['and 3 less severe events', '23 events; false alarms to expect: 0.0']);
});

test('false alarms to expect are those of every judged row, once for all members of a group', () => {
  const report = new BacktestReport([detector]);
  const row = (series: string, group: string | null, minute: number, grade: number | null = 0.1) =>
    scoreRecord({ series, group, grade, timestampMs: minute * 60_000 });
  const rows = Array.from({ length: 100 }, (_, minute) => [
    row('alone', null, minute),
    row('a', 'g', minute),
    row('b', 'g', minute),
    row('new', null, minute, null),
  ]);
  report.addScores(rows.flat());
  assert.deepEqual(report.eventLines(), ['0 events; false alarms to expect: 2.0']);
});

test('labelled incidents are found, late or missed, and other events false', () => {
  const labels = new BacktestLabels(10 * 60_000);
  const incidents = new Set([10, 11, 12, 30, 31, 50, 51, 52]);
  for (let minute = 0; minute < 100; minute++) labels.add('a', minute * 60_000, incidents.has(minute));
  const event = (eventId: string, first: number, last: number) =>
    anomalyEvent({ eventId, series: 'a', firstAlarmAtMs: first * 60_000, lastAlarmAtMs: last * 60_000 });
  const events = [event('in', 11, 14), event('again', 12, 12), event('late', 38, 39), event('false', 80, 81)];
  const lines = labels.lines(events);
  assert.equal(lines.at(-1), '3 labelled incidents: 1 found, 1 late, 1 missed; 1 of 4 events are false');
  assert.match(lines[0], /^ {2}labels {2}\.{6}##\.{11}#/);
  assert.match(lines[1], /^ {2}events {2}\.{7}##/);
});

test('labels are numbers other than 0, and words that name an incident', () => {
  assert.deepEqual(['1', 'TRUE', 'disk full', '0.5'].map(isLabelled), [true, true, true, true]);
  assert.deepEqual(['', '0', '0.0', 'False', 'normal', ' '].map(isLabelled), [
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
});
