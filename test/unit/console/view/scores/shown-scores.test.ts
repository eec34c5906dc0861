import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  following,
  NO_SCORES,
  panned,
  scoresCsv,
  zoomed,
} from '../../../../../src/console/view/scores/shown-scores.ts';

const COLUMNS = {
  ...NO_SCORES,
  timestampMs: [0, 1_000, 2_000, 3_000],
  value: [1, 2.5, null, 4],
  forecast: [null, 2, null, 4],
  lo: [null, 1, null, 3],
  hi: [null, 3, null, 5],
  grade: [null, 0.25, null, 0],
  alarms: [0, 1, 0, 0],
};

test('rows of the stretch of time, without those that only break the line', () => {
  assert.equal(
    scoresCsv('a', COLUMNS, { from: 1_000, to: 3_000 }),
    'series,timestamp,value,forecast,lo,hi,grade,alarms\n' +
      'a,1970-01-01T00:00:01.000Z,2.5,2,1,3,0.25,1\n' +
      'a,1970-01-01T00:00:03.000Z,4,4,3,5,0,0\n',
  );
});

test('a hostile name is no formula and breaks no row', () => {
  const [, row] = scoresCsv('=1+"2",\n', COLUMNS, { from: 0, to: 0 }).split('\n1970');
  assert.equal(row, undefined);
  assert.match(scoresCsv('=1+"2"', COLUMNS, { from: 0, to: 0 }), /\n"'=1\+""2""",1970/);
});

const RANGE = { from: 0, to: 1_000_000 };

test('a zoom keeps the moment it is around where it is', () => {
  assert.deepEqual(zoomed(RANGE, 0.5, 250_000), { from: 125_000, to: 625_000 });
  assert.deepEqual(zoomed(RANGE, 2, 500_000), { from: -500_000, to: 1_500_000 });
});

test('a zoom ends where nothing could be seen', () => {
  const { from, to } = zoomed({ from: 0, to: 31_000 }, 0.001, 15_500);
  assert.equal(to - from, 30_000);
});

test('panning and following keep the length', () => {
  assert.deepEqual(panned(RANGE, -0.5), { from: -500_000, to: 500_000 });
  assert.deepEqual(following(RANGE, 7_000_000), { from: 6_000_000, to: 7_000_000 });
});
