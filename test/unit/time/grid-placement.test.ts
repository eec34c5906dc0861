import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFrequency } from '../../../src/time/frequency.ts';
import { followPhase, gridStepAt, placeOnGrid } from '../../../src/time/grid-placement.ts';

const minutes = parseFrequency('min')!;

/** Ten positions so far; the gap limit is three. */
const place = (minute: number) =>
  placeOnGrid(
    { freq: minutes, originMs: 0, positions: 10, newestMs: 9 * 60_000, jitterMs: 30_000, gapLimit: 3 },
    minute * 60_000,
  );

//  past   0 1 2 3 4 5 6 7 8 9
//  next                       10 11 12 13 | 14 ...
test('the step after the newest is next, with as many missing steps as lie between', () => {
  assert.deepEqual(place(10), { kind: 'next', missing: 0 });
  assert.deepEqual(place(11), { kind: 'next', missing: 1 });
  assert.deepEqual(place(13), { kind: 'next', missing: 3 });
});

test('beyond the gap limit the series starts over', () => {
  assert.deepEqual(place(14), { kind: 'restart', missing: 4 });
});

test('the newest step again is a duplicate, an older one is late', () => {
  assert.deepEqual(place(9), { kind: 'duplicate' });
  assert.deepEqual(place(9.4), { kind: 'duplicate' });
  assert.deepEqual(place(8), { kind: 'late' });
  assert.deepEqual(place(-5), { kind: 'late' });
});

/** Positions of event times in minutes, by the grid alone: how many were next, and the last position. */
function walk(times: readonly number[]) {
  let originMs = times[0] * 60_000;
  let newestMs = originMs;
  let positions = 1;
  const kinds: Record<string, number> = { next: 1 };
  for (const minute of times.slice(1)) {
    const timestampMs = minute * 60_000;
    const placed = placeOnGrid(
      { freq: minutes, originMs, positions, newestMs, jitterMs: 30_000, gapLimit: 100 },
      timestampMs,
    );
    kinds[placed.kind] = (kinds[placed.kind] ?? 0) + 1;
    if (timestampMs > newestMs) newestMs = timestampMs;
    if (placed.kind !== 'next') continue;
    positions += placed.missing + 1;
    originMs = followPhase(minutes, originMs, { position: positions - 1, timestampMs });
  }
  return { kinds, positions };
}

test('the phase is not that of the first sample: one half a step off the grid loses nothing that follows', () => {
  const jitter = (i: number) => (((i * 7_919) % 101) - 50) / 50 / 60;
  const { kinds, positions } = walk([-0.5, ...Array.from({ length: 1_000 }, (_, i) => i + jitter(i))]);
  assert.ok(kinds.next >= 1_000, JSON.stringify(kinds));
  assert.ok(Math.abs(positions - 1_001) <= 1);
});

test('observations with a jitter of 0.4 steps, a slow clock or a moving phase each have a step of their own', () => {
  const noise = (i: number) => (((i * 7_919) % 101) - 50) / 50;
  for (const time of [
    (i: number) => i + 0.4 * noise(i),
    (i: number) => i * 1.01,
    (i: number) => i * 0.99,
    (i: number) => i + (i < 500 ? 0 : 0.5) + 0.02 * noise(i),
  ]) {
    const { kinds } = walk(Array.from({ length: 1_000 }, (_, i) => time(i)));
    assert.ok(kinds.next >= 998, JSON.stringify(kinds));
  }
});

test('a series sampled twice as often as its frequency keeps every second observation', () => {
  const { kinds, positions } = walk(Array.from({ length: 1_000 }, (_, i) => i / 2));
  assert.ok(Math.abs(positions - 500) <= 2, `${positions}`);
  assert.ok(kinds.duplicate >= 498);
});

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
