import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFrequency } from '../../../src/time/frequency.ts';
import { followPhase, placeOnGrid } from '../../../src/time/grid-placement.ts';

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
