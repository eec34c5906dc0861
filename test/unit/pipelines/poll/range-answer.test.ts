import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRangeAnswer } from '../../../../src/pipelines/poll/range-answer.ts';

const REQUEST = { query: 'up', fromMs: 60_000, toMs: 180_000, stepMs: 60_000, name: 'mine' };

const matrix = (result: unknown, more = {}) =>
  JSON.stringify({ status: 'success', data: { resultType: 'matrix', result }, ...more });

function read(body: string, status = 200) {
  return readRangeAnswer(status, body, REQUEST);
}

test('each series of a result has its points; a result without a name has that of its source', () => {
  const answer = read(
    matrix([
      {
        metric: { __name__: 'up', job: 'a' },
        values: [
          [60, '1'],
          [120.0004, '0'],
        ],
      },
      { metric: { job: 'b' }, values: [[180, '1e3']] },
    ]),
  );
  assert.ok(answer.kind === 'answered');
  assert.equal(answer.partial, null);
  const actual = answer.points.series.map(({ id, timestampsMs, values }) => [id, timestampsMs, values]);
  assert.deepEqual(actual, [
    ['up{job="a"}', [60_000, 120_000], [1, 0]],
    ['mine{job="b"}', [180_000], [1_000]],
  ]);
});

test('what is no number is a missing value, and steps that were not asked for are left out', () => {
  const answer = read(
    matrix([{ metric: {}, values: [[0, '1'], [60, 'NaN'], [120, '+Inf'], [180, '2'], [240, '3'], 7] }]),
  );
  assert.ok(answer.kind === 'answered');
  assert.equal(answer.points.missing, 2);
  assert.deepEqual(answer.points.series[0].values, [2]);
});

test('native histograms are the series of their count and sum', () => {
  const histogram = { count: '20', sum: '50.5', buckets: [[0, '0.5', '1', '20']] };
  const answer = read(
    matrix([
      {
        metric: { __name__: 'h', job: 'a' },
        histograms: [
          [0, histogram],
          [60, histogram],
          [120, {}],
        ],
      },
    ]),
  );
  assert.ok(answer.kind === 'answered');
  const actual = answer.points.series.map(({ id, timestampsMs, values }) => [id, timestampsMs, values]);
  assert.deepEqual(actual, [
    ['h_count{job="a"}', [60_000], [20]],
    ['h_sum{job="a"}', [60_000], [50.5]],
  ]);
  assert.deepEqual([answer.points.missing, answer.points.refused], [2, 0]);
});

test('warnings mark an answer as partial, unless PromQL remarks on the query; so does VictoriaMetrics', () => {
  const partsOf = (more: object) => {
    const answer = read(matrix([], more));
    return answer.kind === 'answered' && [answer.partial, answer.annotations];
  };
  const bucket = 'PromQL warning: bucket label "le" is missing or has a malformed value of "" (1:25)';
  const counter =
    'PromQL info: metric might not be a counter, name does not end in _total/_sum/_count/_bucket: "load" (1:6)';
  assert.deepEqual(partsOf({ warnings: ['a store is away'] }), ['a store is away', []]);
  assert.deepEqual(partsOf({ warnings: [bucket], infos: [counter] }), [null, [bucket, counter]]);
  assert.deepEqual(partsOf({ warnings: [bucket, 'a store is away'] }), ['a store is away', [bucket]]);
  assert.deepEqual(partsOf({ isPartial: true }), ['isPartial', []]);
  assert.deepEqual(partsOf({ isPartial: false }), [null, []]);
});

test('an answer that is too large is distinguished from one that failed', () => {
  const error = (errorType: string, text: string) =>
    read(JSON.stringify({ status: 'error', errorType, error: text }), 422);
  assert.equal(error('bad_data', 'exceeded maximum resolution of 11,000 points per timeseries').kind, 'too-large');
  assert.equal(error('execution', 'query processing would load too many samples into memory').kind, 'too-large');
  assert.equal(error('timeout', 'query timed out').kind, 'too-large');
  const failed = error('bad_data', 'parse error: unexpected }');
  assert.ok(failed.kind === 'failed');
  assert.match(failed.detail, /422: bad_data parse error/);
});

test('more points than a record may have are too large', () => {
  const values = Array.from({ length: 3 }, (_, i) => [60 + i, '1']);
  const answer = read(matrix(Array.from({ length: 70_000 }, (_, i) => ({ metric: { i: String(i) }, values }))));
  assert.equal(answer.kind, 'too-large');
});

test('whatever the body is, it is an answer', () => {
  for (const body of [
    '',
    '<html>',
    'null',
    '[]',
    '{"status":"success"}',
    matrix(5),
    matrix([null, 1, { metric: 4 }]),
  ]) {
    assert.ok(['failed', 'answered'].includes(read(body, 502).kind), body);
  }
  assert.equal(read('<html>', 502).kind, 'failed');
  assert.equal(read('{"status":"success","data":{"resultType":"vector","result":[]}}').kind, 'failed');
});
