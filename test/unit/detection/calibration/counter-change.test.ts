import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CounterArrival,
  type CounterPoint,
  counterChange,
  nextBases,
} from '../../../../src/detection/calibration/counter-change.ts';
import { splitInteger } from '../../../../src/records/point-extras.ts';

const RULES = { apartMsMax: 90_000 };
const MINUTE = 60_000;

type Given = readonly [minute: number, value: number, startMinute?: number];

/** Increases and seconds of points, in their order. */
function changes(given: readonly Given[], { isDelta = false }: { isDelta?: boolean } = {}) {
  let bases: readonly CounterPoint[] = [];
  return given.map(([minute, value, startMinute = Number.NaN]) => {
    const timestampMs = minute * MINUTE;
    const arrival: CounterArrival = { timestampMs, value, low: 0, startMs: startMinute * MINUTE, isDelta };
    const change = counterChange(bases, arrival, RULES);
    bases = nextBases(bases, arrival, RULES);
    return change;
  });
}
const increases = (...given: Parameters<typeof changes>) => changes(...given).map(({ increase }) => increase);

test('a counter that falls was reset to 0, and points that are too far apart give no change', () => {
  const given: Given[] = [
    [1, 100],
    [2, 130],
    [3, 30],
    [4, 30],
    [5.6, 50],
  ];
  assert.deepEqual(increases(given), [Number.NaN, 30, 30, 0, Number.NaN]);
  assert.equal(changes(given)[1].seconds, 60);
});

test('a new start is a reset although the value rose, and the same start a second apart is none', () => {
  assert.deepEqual(
    increases([
      [1, 130, 0],
      [2, 140, 0.01],
      [3, 150, 2.5],
      [4, 160, 2.5],
    ]),
    [Number.NaN, 10, 150, 10],
  );
});

test('points of two starts in turn continue from those of their own start', () => {
  const given: Given[] = [0, 1, 2, 3].flatMap((minute): Given[] => [
    [minute, 1_000 + 10 * minute, -500],
    [minute + 0.5, 7 * minute, -0.5],
  ]);
  // The second one has started within what is a step: what it counted is known.
  assert.deepEqual(increases(given), [Number.NaN, 0, 10, 7, 10, 7, 10, 7]);
  const inTurns = changes(given).map(({ inTurn }) => inTurn);
  assert.deepEqual(inTurns, [false, false, true, true, true, true, true, true]);
});

test('a sender that started long ago has a first point', () => {
  assert.deepEqual(
    increases([
      [1, 1_000, -500],
      [1.5, 90_000, -900],
      [2.5, 90_004, -900],
    ]),
    [Number.NaN, Number.NaN, 4],
  );
});

test('deltas are taken as they are, over their interval', () => {
  assert.deepEqual(
    changes(
      [
        [1, 3, 0],
        [2, 5, 1],
        [3, 2],
        [6, 9, 3],
      ],
      { isDelta: true },
    ).map(({ increase, seconds }) => [increase, seconds]),
    [
      [3, 60],
      [5, 60],
      [2, 60],
      [Number.NaN, Number.NaN],
    ],
  );
});

test('the digits that a number leaves out of an integer count', () => {
  let bases: readonly CounterPoint[] = [];
  const found = [0n, 100n, 200n, 301n].map((more, i) => {
    const point = { timestampMs: i * MINUTE, ...splitInteger(2n ** 60n + more), startMs: Number.NaN, isDelta: false };
    const { increase } = counterChange(bases, point, RULES);
    bases = nextBases(bases, point, RULES);
    return increase;
  });
  assert.deepEqual(found, [Number.NaN, 100, 100, 101]);
});
