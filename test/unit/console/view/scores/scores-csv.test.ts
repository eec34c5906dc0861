import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scoresCsv } from '../../../../../src/console/view/scores/scores-csv.ts';
import { NO_SCORES } from '../../../../../src/console/view/scores/shown-scores.ts';

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
