import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventKind } from '../../../src/detector/event.ts';
import { kindOf, refined } from '../../../src/detector/event-kind.ts';

const ROWS = 240;
const AMPLITUDE = 5;
/** A season of 24 rows with a little noise. */
const usual = (row: number) => AMPLITUDE * Math.sin((2 * Math.PI * row) / 24) + 0.3 * Math.sin(row * row);

/** The kind of what begins after ROWS usual rows; `seen` says the value of each row from there on. */
function kindAfter(
  seen: (row: number) => number,
  rows = 30,
  more: { leading?: number; span?: number } = {},
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
  });
}

test('a value that is off for a row or two is a spike or a dip', () => {
  assert.equal(
    kindAfter((row) => usual(row) + (row < ROWS + 2 ? 9 : 0)),
    'spike',
  );
  assert.equal(
    kindAfter((row) => usual(row) - (row < ROWS + 1 ? 9 : 0)),
    'dip',
  );
  assert.equal(
    kindAfter((row) => usual(row) + 9, 1),
    'spike',
    'one row tells no more',
  );
});

test('values that stay off are a level shift, or a drift where they left their level before', () => {
  assert.equal(
    kindAfter((row) => usual(row) + 9),
    'level_shift',
  );
  assert.equal(
    kindAfter((row) => usual(row) + 9, 30, { leading: 6 }),
    'drift',
  );
  assert.equal(
    kindAfter((row) => usual(row) + 9, 30, { leading: -6 }),
    'level_shift',
    'they were off on the other side',
  );
});

test('values that do not rise and fall any more have lost their season', () => {
  assert.equal(
    kindAfter((row) => 0.3 * Math.sin(row * row)),
    'missing_season',
  );
});

test('a value that comes again and again is stuck, unless it did so before', () => {
  assert.equal(
    kindAfter(() => 3.25),
    'stuck',
  );
  const values = Float32Array.from({ length: 200 }, (_, row) => (row % 20 < 10 ? 0 : 1 + (row % 3)));
  const residuals = Array.from({ length: 20 }, () => 4);
  assert.notEqual(
    kindOf({ values, start: 180, residuals, leading: 0, isBelow: false, span: 5, changeScale: 1 }),
    'stuck',
  );
});

test('values that jump up and down are a burst', () => {
  assert.equal(
    kindAfter((row) => usual(row) + (row % 2 === 0 ? 8 : -8), 12, { span: 12 }),
    'burst',
  );
});

test('a kind is refined and never taken back', () => {
  assert.equal(refined('spike', 'level_shift'), 'level_shift');
  assert.equal(refined('level_shift', 'stuck'), 'stuck');
  assert.equal(refined('stuck', 'spike'), 'stuck');
  assert.equal(refined('level_shift', 'drift'), 'drift');
});

test('missing values classify nothing', () => {
  assert.equal(
    kindAfter((row) => (row === ROWS ? 30 : Number.NaN)),
    'spike',
  );
});
