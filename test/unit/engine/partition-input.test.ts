import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Subscription } from '../../../src/engine/log/log.ts';
import { MemoryGuard } from '../../../src/engine/memory-guard.ts';
import { PartitionInput } from '../../../src/engine/partition-input.ts';

const ignore = () => undefined;
const SUBSCRIPTION: Subscription = {
  start: ignore,
  confirm: async () => undefined,
  pause: ignore,
  resume: ignore,
  stop: async () => undefined,
};

test('records that arrive before the start are not kept: nothing could pause them', () => {
  const memory = new MemoryGuard({ bytesMax: null, usedBytes: () => 0, nowMs: () => 0 });
  const said: boolean[] = [];
  const options = { partition: 0, queueRecordsMax: 1, onPaused: (paused: boolean) => said.push(paused), memory };
  const input = new PartitionInput(options);
  const record = { partition: 0, offset: 7, timestampMs: 0, key: null, value: Buffer.alloc(100) };
  for (let i = 0; i < 10; i++) input.accept([record], 8);
  assert.deepEqual([input.records, input.bytes, input.nextOffset, said], [0, 0, 0, []]);
  input.start(SUBSCRIPTION, 7, null);
  input.accept([record], 8);
  assert.deepEqual([input.records, input.nextOffset], [1, 8]);
  input.accept([record], 8);
  assert.deepEqual(said, [true]);
});
