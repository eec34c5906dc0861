import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_VERDICT } from '../../../../../src/detection/alarm/alarm.ts';
import { judgeStuck } from '../../../../../src/detection/event/alarm/stuck-alarm.ts';
import { freshRings } from '../../../../fixture/events/fresh-rings.ts';
import { seededRandom } from '../../../../fixture/seeded-random.ts';

const CONTEXT = 512;
const RATE = 1 / 2_016;
const TYPICAL = { ...NO_VERDICT, grade: 0.1, severity: 1 };

/** The rows at which values are found to be stuck. */
function stuckRows(values: readonly number[], rate: number | null = RATE): number[] {
  const rings = freshRings({ context: CONTEXT });
  rings.origin = 0;
  return values.flatMap((value, position) => {
    rings.keepDistance(position, value);
    return judgeStuck(rings, position, TYPICAL, rate).alarm ? [position] : [];
  });
}

function series(rows: number, valueAt: (row: number, random: () => number) => number, seed = 1): number[] {
  const random = seededRandom(seed);
  return Array.from({ length: rows }, (_, row) => Math.fround(valueAt(row, random)));
}

const noise = (rows: number, seed = 1) => series(rows, (_, random) => 100 + random(), seed);
/** The value at `from` stays for so many rows. */
const held = (values: readonly number[], from: number, rows: number) =>
  values.map((value, row) => (row > from && row < from + rows ? values[from] : value));

test('a value that never repeated is stuck at its sixth row, once', () => {
  assert.deepEqual(stuckRows(held(noise(700), 600, 5)), []);
  assert.deepEqual(stuckRows(held(noise(700), 600, 8)), [605]);
  assert.deepEqual(stuckRows(held(noise(700), 600, 60)), [605]);
});

test('a series that repeats values anyway is stuck only where that becomes improbable', () => {
  for (const distinct of [2, 4, 12]) {
    const quantised = series(6_000, (_, random) => Math.floor(distinct * random()) - (random() < 0.1 ? 1 : 0), 7);
    assert.deepEqual(stuckRows(quantised), [], `${distinct} values`);
  }
  const four = series(700, (row, random) => (row === 300 ? 9 : Math.floor(4 * random())), 3);
  four.fill(2, 600, 660);
  const [found, ...more] = stuckRows(four);
  assert.ok(found > 605 && found < 640, `row ${found}`);
  assert.deepEqual(more, []);
});

test('regression: values of few digits that vary less for a while are not stuck', () => {
  for (let seed = 1; seed <= 20; seed++) {
    let level = 0;
    const digits = series(
      6_000,
      (row, random) => {
        level = 0.98 * level + (random() - 0.5) * (4 + 3 * Math.sin(row / 300));
        return Math.round(2 * level);
      },
      seed,
    );
    assert.deepEqual(stuckRows(digits), [], `seed ${seed}`);
  }
});

test('a gauge that moves in steps, and a flat series, are not stuck', () => {
  const gauge = series(3_000, (row) => Math.floor(row / 7) % 40);
  assert.deepEqual(stuckRows(gauge), []);
  assert.deepEqual(stuckRows(series(3_000, () => 5)), []);
  assert.deepEqual(stuckRows(series(3_000, (row) => (row === 1_000 ? 6 : 5))), []);
});

test('a series may rest at its lowest or highest value', () => {
  for (const rest of [0, 200]) {
    const values = noise(900).map((value, row) => (row === 10 || (row > 600 && row < 700) ? rest : value));
    assert.deepEqual(stuckRows(values), [], `at ${rest}`);
  }
});

test('missing values are no repetition, and few rows are no evidence', () => {
  const values = noise(700).map((value, row) => (row >= 600 && row < 640 ? Number.NaN : value));
  assert.deepEqual(stuckRows(values), []);
  assert.deepEqual(stuckRows(held(noise(200), 60, 40)), []);
});

test('without a target rate there is no alarm, and rows without a forecast have none', () => {
  assert.deepEqual(stuckRows(held(noise(700), 600, 8), null), []);
});
