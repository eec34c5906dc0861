import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InputRecord } from '../../../src/engine/log/log.ts';
import { RecordQueue } from '../../../src/engine/record-queue.ts';

const record = (offset: number, bytes: number): InputRecord => {
  return { partition: 0, offset, timestampMs: 0, key: Buffer.alloc(1), value: Buffer.alloc(bytes - 1) };
};
const offsets = (records: readonly InputRecord[]) => records.map(({ offset }) => offset);

test('records are taken in their order, at most as many as requested, and never of two batches at once', () => {
  const queue = new RecordQueue();
  queue.accept([record(0, 10), record(1, 10), record(2, 10)]);
  queue.accept([record(3, 10)]);
  assert.deepEqual([queue.length, queue.bytes], [4, 40]);
  assert.deepEqual(offsets(queue.pop(2, 1_000)), [0, 1]);
  assert.deepEqual(offsets(queue.pop(9, 1_000)), [2]);
  assert.deepEqual(offsets(queue.pop(9, 1_000)), [3]);
  assert.deepEqual(offsets(queue.pop(9, 1_000)), []);
  assert.deepEqual([queue.length, queue.bytes], [0, 0]);
});

test('no further record is taken once the bytes are reached, but at least one is taken', () => {
  const queue = new RecordQueue();
  queue.accept([record(0, 10), record(1, 500), record(2, 10)]);
  assert.deepEqual(offsets(queue.pop(9, 100)), [0, 1]);
  assert.deepEqual(offsets(queue.pop(9, 0)), [2]);
});
