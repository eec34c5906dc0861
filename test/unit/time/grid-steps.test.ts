import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFrequency } from '../../../src/time/frequency.ts';
import { gridStepAt } from '../../../src/time/grid-steps.ts';

function stepOf(alias: string, time: string): string[] {
  const { startMs, endMs } = gridStepAt(parseFrequency(alias)!, Date.parse(time));
  return [startMs, endMs].map((ms) => new Date(ms).toISOString().slice(0, 16));
}

test('steps of a fixed length are multiples of it since 1970, and an end belongs to the next step', () => {
  assert.deepEqual(stepOf('5min', '2026-01-07T10:04:59.999Z'), ['2026-01-07T10:00', '2026-01-07T10:05']);
  assert.deepEqual(stepOf('5min', '2026-01-07T10:05:00Z'), ['2026-01-07T10:05', '2026-01-07T10:10']);
  assert.deepEqual(stepOf('h', '1969-12-31T23:30:00Z'), ['1969-12-31T23:00', '1970-01-01T00:00']);
  assert.deepEqual(stepOf('D', '2026-03-29T23:59:00Z'), ['2026-03-29T00:00', '2026-03-30T00:00']);
});

test('a week ends on the day of its anchor, without one on Sunday', () => {
  // 2026-01-07 is a Wednesday.
  for (const alias of ['W', 'W-SUN']) {
    assert.deepEqual(stepOf(alias, '2026-01-07T10:00:00Z'), ['2026-01-05T00:00', '2026-01-12T00:00']);
  }
  assert.deepEqual(stepOf('W-WED', '2026-01-07T10:00:00Z'), ['2026-01-01T00:00', '2026-01-08T00:00']);
  assert.deepEqual(stepOf('W-TUE', '2026-01-07T10:00:00Z'), ['2026-01-07T00:00', '2026-01-14T00:00']);
});

test('months, quarters and years begin with a month; their anchor is the last month, or the first', () => {
  assert.deepEqual(stepOf('MS', '2026-02-28T23:59:00Z'), ['2026-02-01T00:00', '2026-03-01T00:00']);
  assert.deepEqual(stepOf('Q', '2026-02-28T00:00:00Z'), ['2026-01-01T00:00', '2026-04-01T00:00']);
  assert.deepEqual(stepOf('QE-NOV', '2026-02-28T00:00:00Z'), ['2025-12-01T00:00', '2026-03-01T00:00']);
  assert.deepEqual(stepOf('QS-FEB', '2026-01-31T00:00:00Z'), ['2025-11-01T00:00', '2026-02-01T00:00']);
  assert.deepEqual(stepOf('YE-JUN', '2026-07-01T00:00:00Z'), ['2026-07-01T00:00', '2027-07-01T00:00']);
});

test('a weekend belongs to its Friday', () => {
  assert.deepEqual(stepOf('B', '2026-01-11T12:00:00Z'), ['2026-01-09T00:00', '2026-01-12T00:00']);
});
