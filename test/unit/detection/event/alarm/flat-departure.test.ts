import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_VERDICT } from '../../../../../src/detection/alarm/alarm.ts';
import { recordResolution } from '../../../../../src/detection/calibration/resolution.ts';
import { judgeDeparture } from '../../../../../src/detection/event/alarm/flat-departure.ts';
import { SCALARS } from '../../../../../src/detection/memory/series-memory.ts';
import { freshRings } from '../../../../fixture/events/fresh-rings.ts';
import { seededRandom } from '../../../../fixture/seeded-random.ts';

const RATE = 1 / 2_016;
const TYPICAL = { ...NO_VERDICT, grade: 0.4, severity: 1 };
const CHANGES = 1;

/** The rows at which a series is found to have left where it rested. */
function departures(values: readonly number[], verdict = TYPICAL, rate: number | null = RATE): number[] {
  const rings = freshRings({ context: 512 });
  rings.origin = 0;
  return values.flatMap((value, position) => {
    rings.keepDistance(position, value);
    recordResolution(rings.doubles, rings.scalarIndex(SCALARS.resolution), value);
    rings.setScalar(SCALARS.termRows + CHANGES, position);
    const shown = Number.isNaN(value) ? NO_VERDICT : verdict;
    return judgeDeparture(rings, position, shown, rate).alarm ? [position] : [];
  });
}

const runs = (...all: readonly (readonly [rows: number, value: number])[]) =>
  all.flatMap(([rows, value]) => Array<number>(rows).fill(value));

test('a series that rested is an alarm at the third row elsewhere, by however little, once', () => {
  for (const [rest, away] of [
    [5, 6],
    [1, 0],
    [0, 1],
    [99.9, 99.8],
  ]) {
    assert.deepEqual(departures(runs([400, rest], [50, away])), [402]);
  }
});

test('one row elsewhere, or two, are none, and neither is the return', () => {
  assert.deepEqual(departures(runs([400, 0], [1, 1], [400, 0], [2, 1], [20, 0])), []);
  assert.deepEqual(departures(runs([400, 1], [50, 0], [300, 1])), [402]);
  assert.deepEqual(departures(runs([400, 1], [50, 0], [30, 1]), { ...TYPICAL, alarm: true }).includes(450), false);
});

test('one odd value long ago changes nothing', () => {
  assert.deepEqual(departures(runs([100, 1], [1, 0.99], [400, 1], [50, 0])), [503]);
});

test('a missing value within the rest does not end it', () => {
  assert.deepEqual(departures(runs([200, 5], [1, Number.NaN], [200, 5], [10, 6])), [403]);
});

test('missing values next to a departure change nothing', () => {
  const gap = [1, Number.NaN] as const;
  assert.deepEqual(departures(runs([400, 5], gap, [2, 6], gap, [10, 6])), [404]);
  assert.deepEqual(departures(runs([399, 5], gap, [1, 5], [1, 6], gap, gap, [10, 6])), [405]);
});

test('a second departure to the same level is no return', () => {
  assert.deepEqual(departures(runs([400, 1], [100, 0], [300, 1], [50, 0])), [402, 802]);
  assert.deepEqual(departures(runs([400, 1], [40, 0], [60, 1], [50, 0], [60, 1], [50, 0])), [402, 502]);
});

test('a series that moves now and then is none, unless it rested far longer than ever', () => {
  const random = seededRandom(3);
  let value = 7;
  const flips = Array.from({ length: 3_000 }, () => {
    if (random() < 0.02) value = 15 - value;
    return value;
  });
  assert.deepEqual(departures(flips), []);
  const early = runs([20, 1], [10, 0], [20, 1], [10, 0], [500, 1], [20, 0]);
  assert.deepEqual(departures(early), [562]);
  const often = Array.from({ length: 64 }, (_, i): [number, number] => [2, i % 2]);
  assert.deepEqual(departures(runs(...often, [500, 1], [20, 0])), []);
});

test('without alarms there is none', () => {
  assert.deepEqual(departures(runs([400, 5], [50, 6]), TYPICAL, null), []);
});
