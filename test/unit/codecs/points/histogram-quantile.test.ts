import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explicitQuantile, exponentialQuantile } from '../../../../src/codecs/points/histogram-quantile.ts';

test('a quantile of explicit buckets is linear within its bucket, and the last bound beyond all', () => {
  const buckets = { bounds: [1, 5, 25], counts: [1, 1, 0, 1] };
  assert.equal(explicitQuantile(0.5, buckets), 3);
  assert.equal(explicitQuantile(0.99, buckets), 25);
  assert.equal(explicitQuantile(0.1, { bounds: [10], counts: [4, 0] }), 1);
  assert.ok(Number.isNaN(explicitQuantile(0.5, { bounds: [1], counts: [0, 0] })));
});

test('a quantile of exponential buckets is geometric within its bucket, also below zero', () => {
  const none = { offset: 0, counts: [] };
  // Base 2: (1, 2], (2, 4], (4, 8].
  const positive = { offset: 0, counts: [0, 4, 0] };
  assert.equal(exponentialQuantile(0.5, { scale: 0, zeroCount: 0, positive, negative: none }), 2 ** 1.5);
  // Base 4: (1/4, 1], (1, 4].
  const wide = { scale: -1, zeroCount: 0, positive: { offset: -1, counts: [1, 1] }, negative: none };
  assert.deepEqual([exponentialQuantile(0.5, wide), exponentialQuantile(1, wide)], [1, 4]);
  const around = { scale: 0, zeroCount: 2, positive: { offset: 0, counts: [4] }, negative: { offset: 0, counts: [4] } };
  const actual = [0.2, 0.5, 0.8].map((quantile) => exponentialQuantile(quantile, around));
  assert.deepEqual(actual, [-(2 ** 0.5), 0, 2 ** 0.5]);
  assert.ok(Number.isNaN(exponentialQuantile(0.5, { scale: 0, zeroCount: 0, positive: none, negative: none })));
});
