import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecordOrder } from '../../../src/engine/record-order.ts';

const [NOW, MIN] = [1_767_225_600_000, 60_000];
const READ = { nextOffset: 1, endOffset: 1 };
const BEHIND = { nextOffset: 1, endOffset: 9 };

/** Two partitions and a clock that stands until it is set. */
function world() {
  let nowMs = NOW;
  const woken = [0, 0];
  const order = new RecordOrder({ aheadMs: MIN / 2, nowMs: () => nowMs });
  for (const partition of [0, 1]) order.enter(partition, () => woken[partition]++);
  const wait = (ms: number) => {
    nowMs += ms;
  };
  return { order, woken, wait };
}

test('no partition is passed on further ahead of another one than the bound', () => {
  const { order } = world();
  order.setFront(0, 0);
  order.setFront(1, 10 * MIN);
  assert.equal(order.limitOf(0, true), 10.5 * MIN);
  assert.equal(order.limitOf(1, true), 0.5 * MIN);
  order.setFront(0, 10 * MIN);
  assert.equal(order.limitOf(1, true), 10.5 * MIN);
});

test('a partition that was not read, or has more on its way, is waited for, but not for ever', () => {
  const { order, wait } = world();
  order.setFront(0, 0);
  assert.equal(order.limitOf(0, true), Number.NEGATIVE_INFINITY);
  order.fetched(1, BEHIND);
  wait(9_999);
  assert.equal(order.limitOf(0, true), Number.NEGATIVE_INFINITY);
  wait(1);
  assert.equal(order.limitOf(0, true), Number.POSITIVE_INFINITY);
});

test('a partition of which all was read and committed is not waited for', () => {
  const { order } = world();
  order.fetched(1, READ);
  order.setFront(1, 5 * MIN);
  order.setFront(0, 6 * MIN);
  assert.equal(order.limitOf(0, true), 5.5 * MIN);
  order.setFront(1, null);
  assert.equal(order.limitOf(0, true), Number.POSITIVE_INFINITY);
});

test('a partition whose transaction makes no progress holds the others for a while; one that waits itself holds on', () => {
  const { order, wait } = world();
  order.setFront(0, 6 * MIN);
  order.setFront(1, 5 * MIN);
  wait(20_000);
  order.limitOf(1, false);
  assert.equal(order.limitOf(0, true), 5.5 * MIN);
  wait(10_000);
  assert.equal(order.limitOf(0, true), Number.POSITIVE_INFINITY);
  order.limitOf(1, true);
  assert.equal(order.limitOf(0, true), 5.5 * MIN);
});

test('whoever may be allowed more is woken, and a partition that was revoked holds nothing', () => {
  const { order, woken } = world();
  order.setFront(0, 0);
  const before = woken[1];
  order.setFront(0, MIN);
  assert.equal(woken[1], before + 1);
  order.leave(1);
  assert.equal(order.limitOf(0, true), Number.POSITIVE_INFINITY);
});
