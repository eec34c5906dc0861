import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InputRecord, Subscription } from '../../../src/engine/log/log.ts';
import { MemoryGuard } from '../../../src/engine/memory-guard.ts';
import { PartitionInput } from '../../../src/engine/partition-input.ts';

const ignore = () => undefined;
const SUBSCRIPTION: Subscription = {
  start: ignore,
  confirm: async () => undefined,
  pause: ignore,
  resume: ignore,
  end: () => null,
  stop: async () => undefined,
};

function newInput(onPaused: (paused: boolean) => void = ignore) {
  const memory = new MemoryGuard({ bytesMax: null, usedBytes: () => 0, nowMs: () => 0 });
  return new PartitionInput({ partition: 0, queueRecordsMax: 1, onPaused, memory });
}

const record = (offset: number, bytes: number): InputRecord => {
  return { partition: 0, offset, timestampMs: 0, key: Buffer.alloc(1), value: Buffer.alloc(bytes - 1) };
};
const offsets = (records: readonly InputRecord[]) => records.map(({ offset }) => offset);

test('records are taken in their order, at most as many as requested, and never of two batches at once', () => {
  const input = newInput();
  input.start(SUBSCRIPTION, 0, null);
  input.accept([record(0, 10), record(1, 10), record(2, 10)], 3);
  input.accept([record(3, 10)], 4);
  assert.deepEqual([input.records, input.bytes], [4, 40]);
  const taken = [input.pop(2, 1_000), input.pop(9, 1_000), input.pop(9, 1_000), input.pop(9, 1_000)];
  assert.deepEqual(taken.map(offsets), [[0, 1], [2], [3], []]);
  assert.deepEqual([input.records, input.bytes], [0, 0]);
});

test('no further record is taken once the bytes are reached, but at least one is taken', () => {
  const input = newInput();
  input.start(SUBSCRIPTION, 0, null);
  input.accept([record(0, 10), record(1, 500), record(2, 10)], 3);
  assert.deepEqual(offsets(input.pop(9, 100)), [0, 1]);
  assert.deepEqual(offsets(input.pop(9, 0)), [2]);
});

test('records that arrive before the start are not kept: nothing could pause them', () => {
  const said: boolean[] = [];
  const input = newInput((paused) => void said.push(paused));
  for (let i = 0; i < 10; i++) input.accept([record(7, 100)], 8);
  assert.deepEqual([input.records, input.bytes, input.nextOffset, said], [0, 0, 0, []]);
  input.start(SUBSCRIPTION, 7, null);
  input.accept([record(7, 100)], 8);
  assert.deepEqual([input.records, input.nextOffset], [1, 8]);
  input.accept([record(7, 100)], 8);
  assert.deepEqual(said, [true]);
});
