import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFrequency } from '../../../src/calendar/frequency.ts';
import { placeOnGrid } from '../../../src/calendar/grid-placement.ts';

const minutes = parseFrequency('min')!;

/** Ten positions so far; the gap limit is three. */
const place = (minute: number) =>
  placeOnGrid({ freq: minutes, originMs: 0, positions: 10, gapLimit: 3 }, minute * 60_000);

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
