import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReceivedObservation } from '../../../../src/engine/unit/received-observation.ts';
import { type ArrivalOwner, WaitingArrivals } from '../../../../src/engine/unit/waiting-arrivals.ts';

function arrival(timestampMs: number, bytes = 10): ReceivedObservation {
  const record = { partition: 0, offset: timestampMs, timestampMs, key: null, value: Buffer.alloc(bytes) };
  return { series: 's', group: null, timestampMs, value: 1, record };
}

const timesOf = (arrivals: readonly ReceivedObservation[]) => arrivals.map(({ timestampMs }) => timestampMs);

test('sixteen records wait for confirmation, each of at most 8 KiB', () => {
  const waiting = new WaitingArrivals();
  assert.ok(!waiting.awaitConfirmation(arrival(0, 8_193)));
  const held = Array.from({ length: 16 }, (_, i) => arrival(i, 8_192));
  assert.ok(held.every((one) => waiting.awaitConfirmation(one)));
  assert.ok(!waiting.awaitConfirmation(arrival(16)));
  waiting.decided(held[3]);
  assert.equal(waiting.unconfirmed.length, 15);
  assert.ok(waiting.awaitConfirmation(arrival(17)));
});

test('records leave in the order of their times, once nothing older is waited for', () => {
  const waiting = new WaitingArrivals();
  assert.deepEqual(timesOf(waiting.reorder(arrival(30), 10)), []);
  assert.deepEqual(timesOf(waiting.reorder(arrival(20), 10)), []);
  assert.deepEqual(timesOf(waiting.reorder(arrival(40), 25)), [20]);
  assert.deepEqual(timesOf(waiting.drainOutOfOrder()), [30, 40]);
  assert.deepEqual(waiting.outOfOrder, []);
});

test('of more than 128 records, or 128 KiB, the oldest need not wait', () => {
  const waiting = new WaitingArrivals();
  for (let at = 0; at < 128; at++) assert.deepEqual(waiting.reorder(arrival(at), -1), []);
  assert.deepEqual(timesOf(waiting.reorder(arrival(128), -1)), [0]);
  const large = new WaitingArrivals();
  assert.deepEqual(large.reorder(arrival(0, 100_000), -1), []);
  assert.deepEqual(timesOf(large.reorder(arrival(1, 100_000), -1)), [0]);
});

test('what waits for a backfill that is made at once waits for forecasts', () => {
  const waiting = new WaitingArrivals();
  waiting.awaitBackfill();
  waiting.queue(arrival(1));
  waiting.queue(arrival(2));
  waiting.endBackfillAtOnce();
  assert.deepEqual([waiting.forBackfill, waiting.awaitsForecast], [null, true]);
  assert.deepEqual(timesOf(waiting.endForecast()), [1, 2]);
  assert.equal(waiting.awaitsForecast, false);
});

test('another unit takes over what is part of the state, as a copy of its own', () => {
  const [old, taken] = [new WaitingArrivals(), new WaitingArrivals()];
  old.awaitConfirmation(arrival(1));
  old.awaitBackfill();
  old.queue(arrival(2));
  old.awaitForecast(arrival(3));
  taken.inherit(old);
  old.queue(arrival(4));
  assert.deepEqual(timesOf(taken.all), [2, 1]);
  assert.equal(taken.awaitsForecast, false);
});

test('a unit holds nothing where nothing waits any more, and where nothing waited in what was kept', () => {
  const owner: ArrivalOwner = { steps: null, heldArrivals: null };
  const waiting = new WaitingArrivals(owner);
  waiting.resume(waiting, { group: null, partition: 0 });
  assert.equal(owner.heldArrivals, null);
  waiting.awaitForecast(arrival(1));
  waiting.reorder(arrival(2), 1);
  assert.notEqual(owner.heldArrivals, null);
  waiting.drainOutOfOrder();
  assert.deepEqual(timesOf(waiting.endForecast()), [1]);
  assert.equal(owner.heldArrivals, null);
});
