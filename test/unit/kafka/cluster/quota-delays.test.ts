import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QuotaDelays } from '../../../../src/kafka/cluster/quota-delays.ts';

test('a client whose delays add up is held up, once, until they end', () => {
  const delays = new QuotaDelays();
  assert.equal(delays.share(0), null);
  const became = [0, 1_000, 2_000, 3_000, 4_000].map((nowMs) => delays.add(800, nowMs));
  assert.deepEqual(became, [false, false, false, true, false]);
  assert.equal(delays.share(4_800), 4_000 / 4_800);
  assert.equal(delays.share(9_800), 4_000 / 9_800);
  assert.equal(delays.share(9_801), null);
  assert.equal(delays.add(800, 20_000), false);
});

test('delays of several connections at one time count once', () => {
  const delays = new QuotaDelays();
  for (let connection = 0; connection < 10; connection++) assert.equal(delays.add(2_000, connection), false);
  assert.equal(delays.share(2_000), null);
});

test('many short delays hold nobody up', () => {
  const delays = new QuotaDelays();
  for (let nowMs = 0; nowMs < 600_000; nowMs += 100) assert.equal(delays.add(5, nowMs), false);
});
