import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  EVENT_TIME_MS_MAX,
  EVENT_TIME_MS_MIN,
  explainEventTime,
  isPlausible,
  readEventTime,
} from '../../../../src/codecs/observations/event-time.ts';
import type { TimeUnit } from '../../../../src/config/config.ts';

const TIME_MS = Date.UTC(2026, 4, 1, 12, 30, 15, 250);

test('the same time is read in every unit, as number, bigint and text', () => {
  const scales: [TimeUnit, number][] = [
    ['s', 1e-3],
    ['ms', 1],
    ['us', 1e3],
    ['ns', 1e6],
  ];
  for (const [unit, scale] of scales) {
    assert.equal(readEventTime(TIME_MS * scale, unit), TIME_MS, unit);
    assert.equal(readEventTime(String(TIME_MS * scale), unit), TIME_MS, unit);
    if (scale >= 1) assert.equal(readEventTime(BigInt(TIME_MS) * BigInt(scale), unit), TIME_MS, unit);
  }
});

test('ISO 8601 is read with any zone, and as UTC without one', () => {
  const same = [
    '2026-05-01T12:30:15.250Z',
    '2026-05-01T12:30:15,25',
    '2026-05-01 14:30:15.25+02:00',
    '2026-05-01t07:00:15.250000000-0530',
  ];
  for (const text of same) assert.equal(readEventTime(text, 'iso'), TIME_MS, text);
  assert.equal(readEventTime('2026-05-01', 'iso'), Date.UTC(2026, 4, 1));
});

test('a date or a time of day that does not exist is not a time', () => {
  const impossible = ['2026-02-30', '2026-13-01', '2026-05-01T24:00', '2026-05-01T12:60Z', '20260501', 'yesterday', ''];
  for (const text of impossible) assert.equal(readEventTime(text, 'iso'), Number.NaN, text);
});

test('a value that is not a number of its unit is not a time', () => {
  for (const raw of ['1e3', ' 1', '0x10', '', 'NaN', true, {}, [], null, undefined, Number.NaN, Infinity]) {
    assert.equal(readEventTime(raw, 'ms'), Number.NaN, String(raw));
  }
  assert.equal(readEventTime(TIME_MS, 'iso'), Number.NaN);
});

test('plausible times begin with 1980, end before 2200 and before the future limit', () => {
  const far = Number.POSITIVE_INFINITY;
  assert.ok(isPlausible(EVENT_TIME_MS_MIN, far) && isPlausible(EVENT_TIME_MS_MAX - 1, far));
  assert.ok(!isPlausible(EVENT_TIME_MS_MIN - 1, far) && !isPlausible(EVENT_TIME_MS_MAX, far));
  assert.ok(isPlausible(TIME_MS, TIME_MS) && !isPlausible(TIME_MS + 1, TIME_MS));
  assert.ok(!isPlausible(Number.NaN, far));
});

test('the refusal of a time in the wrong unit names the unit that fits', () => {
  const explain = (raw: unknown, unit: TimeUnit) =>
    explainEventTime(raw, { unit, timestampMs: readEventTime(raw, unit), latestMs: TIME_MS + 60_000 });
  const cases: [number, TimeUnit, string][] = [
    [TIME_MS, 's', 'ms'],
    [Math.round(TIME_MS / 1e3), 'ms', 's'],
    [TIME_MS * 1e3, 'ms', 'us'],
    [TIME_MS, 'ns', 'ms'],
    [TIME_MS * 1e6, 'us', 'ns'],
  ];
  for (const [raw, unit, fitting] of cases) {
    const { reason, detail } = explain(raw, unit);
    assert.equal(reason, 'time-implausible');
    assert.match(detail, new RegExp(`would make sense in ${fitting}$`));
  }
  assert.match(explain(0, 'ms').detail, /no unit makes it a time/);
  assert.deepEqual(explain(TIME_MS, 'iso'), {
    reason: 'time-unreadable',
    detail: `the time is ${TIME_MS}: not an ISO 8601 date; it would make sense in ms`,
  });
  assert.match(explain('2026-05-01', 'ms').detail, /would make sense in iso/);
});

test('missing, unreadable and future times have reasons of their own', () => {
  const reason = (raw: unknown) =>
    explainEventTime(raw, { unit: 'ms', timestampMs: readEventTime(raw, 'ms'), latestMs: TIME_MS }).reason;
  assert.equal(reason(null), 'time-missing');
  assert.equal(reason(undefined), 'time-missing');
  assert.equal(reason('soon'), 'time-unreadable');
  assert.equal(reason(TIME_MS + 1), 'time-in-future');
});
