import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Departure } from '../../../../../src/detection/event/kind/displaced-values.ts';
import { kindOf, recoveredKind, refined } from '../../../../../src/detection/event/kind/event-kind.ts';
import type { EventKind } from '../../../../../src/records/anomaly-event.ts';
import { whiteNoise } from '../../../../fixture/stream/backtest.ts';

/** How values left what was usual is not known, and forecasts raised the alarm; the event begins anywhere. */
const NOTHING_KNOWN = { departure: null, isBySeason: false, begun: 0, staysAway: false, origin: 0 };
const ROWS = 240;
const AMPLITUDE = 5;
/** A season of 24 rows with a little noise. */
const usual = (row: number) => AMPLITUDE * Math.sin((2 * Math.PI * row) / 24) + 0.3 * Math.sin(row * row);

const above = (row: number) => usual(row) + 9;

/** The kind of what begins after ROWS usual rows; `seen` says the value of each row from there on. */
function kindAfter(
  seen: (row: number) => number,
  rows = 30,
  more: { leading?: number; span?: number; departure?: Departure; staysAway?: boolean } = {},
): EventKind {
  const during = Array.from({ length: rows }, (_, i) => seen(ROWS + i));
  return kindOf({
    values: Float32Array.from([...Array.from({ length: ROWS }, (_, row) => usual(row)), ...during]),
    start: ROWS,
    residuals: during.map((value, i) => value - usual(ROWS + i)),
    leading: more.leading ?? 0,
    isBelow: during[0] < usual(ROWS),
    span: more.span ?? 1,
    changeScale: 1,
    ...NOTHING_KNOWN,
    ...(more.departure && { departure: more.departure }),
    ...(more.staysAway && { staysAway: true }),
  });
}

test('a value that is off for a row or two is a spike or a dip', () => {
  const spike = (row: number) => usual(row) + (row < ROWS + 2 ? 9 : 0);
  const dip = (row: number) => usual(row) - (row < ROWS + 1 ? 9 : 0);
  assert.deepEqual([kindAfter(spike), kindAfter(dip)], ['spike', 'dip']);
  assert.equal(kindAfter(above, 1), 'spike', 'one row tells no more');
});

test('values that stay off are a level shift, or a drift where they left their level before', () => {
  assert.equal(kindAfter(above), 'level_shift');
  assert.equal(kindAfter(above, 30, { leading: 6 }), 'drift');
  assert.equal(kindAfter(above, 30, { leading: -6 }), 'level_shift', 'they were off on the other side');
});

test('a new level is a level shift where the forecast follows it after two rows', () => {
  const values = Float32Array.from({ length: ROWS + 30 }, (_, row) => usual(row) / AMPLITUDE + (row < ROWS ? 0 : 9));
  const residuals = Array.from({ length: 30 }, (_, i) => (i < 2 ? 9 : 0));
  const evidence = {
    values,
    start: ROWS,
    residuals,
    leading: 0,
    isBelow: false,
    span: 2,
    changeScale: 1,
    ...NOTHING_KNOWN,
  };
  assert.equal(kindOf(evidence), 'level_shift');
  values.subarray(ROWS + 2).forEach((value, i, after) => {
    after[i] = value - 9;
  });
  assert.equal(kindOf(evidence), 'spike', 'the values came back');
});

/** Values of a season that is much longer than what a missing season is looked for in, at one of its phases. */
const longSeason = (row: number, phase: number) =>
  30 * Math.sin((2 * Math.PI * row) / 288 + phase) + 0.3 * Math.sin(row * row);

test('the crest of a long season has not lost its season', () => {
  for (let phase = 0; phase < 12; phase++) {
    const values = Float32Array.from({ length: 500 }, (_, row) => longSeason(row, phase / 2) + (row < 460 ? 0 : 60));
    const residuals = Array.from({ length: 40 }, () => 60);
    const first = { values, start: 460, residuals, leading: 0, isBelow: false, span: 20, changeScale: 1 };
    const evidence = { ...first, ...NOTHING_KNOWN };
    assert.equal(kindOf(evidence), 'level_shift', `phase ${phase}`);
  }
});

test('a new level with somewhat more noise is no burst', () => {
  const noise = whiteNoise(7);
  for (let run = 0; run < 20; run++) {
    const values = Float32Array.from(
      { length: 300 },
      (_, row) => noise() * (row < 260 ? 1 : 1.4) + (row < 260 ? 0 : 30),
    );
    const residuals = Array.from({ length: 40 }, () => 30);
    const changeScale = Math.SQRT2;
    const first = { values, start: 260, residuals, leading: 0, isBelow: false, span: 24, changeScale };
    const evidence = { ...first, ...NOTHING_KNOWN };
    assert.equal(kindOf(evidence), 'level_shift');
  }
});

test('values that do not rise and fall any more have lost their season', () => {
  const actual = kindAfter((row) => 0.3 * Math.sin(row * row));
  assert.equal(actual, 'missing_season');
});

test('a flat series that jumps was flat before, and is not stuck', () => {
  const values = Float32Array.from({ length: ROWS + 30 }, (_, row) => (row < ROWS ? 20 : 50));
  const evidence = { values, start: ROWS, leading: 0, isBelow: false, span: 30, changeScale: 0.1, ...NOTHING_KNOWN };
  assert.equal(kindOf({ ...evidence, residuals: Array(30).fill(300) }), 'level_shift');
});

test('a value that comes again and again is stuck, unless it did so before', () => {
  const actual = kindAfter(() => 3.25);
  assert.equal(actual, 'stuck');
  const values = Float32Array.from({ length: 200 }, (_, row) => (row % 20 < 10 ? 0 : 1 + (row % 3)));
  const residuals = Array.from({ length: 20 }, () => 4);
  assert.notEqual(
    kindOf({ values, start: 180, residuals, leading: 0, isBelow: false, span: 5, changeScale: 1, ...NOTHING_KNOWN }),
    'stuck',
  );
});

test('values that jump up and down are a burst', () => {
  const actual = kindAfter((row) => usual(row) + (row % 2 === 0 ? 8 : -8), 12, { span: 12 });
  assert.equal(actual, 'burst');
});

test('regression: a spike whose values stay away is a level shift, or a drift by how they left', () => {
  const spike = (row: number) => usual(row) + (row === ROWS ? 9 : 0);
  assert.equal(kindAfter(spike, 30), 'spike');
  assert.equal(kindAfter(spike, 30, { staysAway: true }), 'level_shift');
  const departure = { riseRows: 40, displacedRows: 20, size: 9 };
  assert.equal(kindAfter(spike, 30, { staysAway: true, departure }), 'drift');
});

test('a kind is refined and never taken back', () => {
  const known = { riseRows: 20, displacedRows: 20, size: 9 };
  assert.equal(refined('spike', 'level_shift', null), 'level_shift');
  assert.equal(refined('level_shift', 'stuck', null), 'stuck');
  assert.equal(refined('stuck', 'spike', known), 'stuck');
  assert.equal(refined('level_shift', 'drift', known), 'drift');
  assert.equal(refined('drift', 'level_shift', null), 'drift', 'nothing new is known');
});

test('missing values classify nothing', () => {
  const actual = kindAfter((row) => (row === ROWS ? 30 : Number.NaN));
  assert.equal(actual, 'spike');
});

test('a drift differs from a level shift by how values left what was usual, whatever was before the alarm', () => {
  assert.equal(kindAfter(above, 30, { departure: { riseRows: 40, displacedRows: 20, size: 9 } }), 'drift');
  const atOnce = { riseRows: 2, displacedRows: 20, size: 9 };
  assert.equal(kindAfter(above, 30, { leading: 6, departure: atOnce }), 'level_shift');
});

test('what the seasonal profile raised is displaced where values are, though forecasts follow them', () => {
  const followed = { ...NOTHING_KNOWN, departure: { riseRows: 2, displacedRows: 9, size: 9 }, isBySeason: true };
  const values = Float32Array.from({ length: ROWS + 30 }, (_, row) => usual(row));
  const evidence = { values, start: ROWS, residuals: [5], leading: 4, isBelow: false, span: 1, changeScale: 1 };
  assert.equal(kindOf({ ...evidence, ...followed }), 'level_shift');
  assert.equal(kindOf({ ...evidence, ...followed, isBySeason: false }), 'spike');
});

test('what is back within three rows is no level shift, no drift and no burst in the end', () => {
  assert.deepEqual([recoveredKind('level_shift', 3, false), recoveredKind('drift', 1, true)], ['spike', 'dip']);
  assert.equal(recoveredKind('level_shift', 4, false), 'level_shift');
  assert.equal(recoveredKind('burst', 3, false), 'spike', 'nor a burst');
  for (const kind of ['stuck', 'missing_season', 'spike'] as const) {
    assert.equal(recoveredKind(kind, 1, true), kind);
  }
});
