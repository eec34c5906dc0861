import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBatches } from '../../../../src/app/commands/batches.ts';

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

test('available items come in full batches, and the last batch has the rest', async () => {
  async function* five() {
    yield* [1, 2, 3, 4, 5];
  }
  assert.deepEqual(await collect(inBatches(five(), 2)), [[1, 2], [3, 4], [5]]);
});

test('a slow item does not wait for a full batch', async () => {
  const { promise: later, resolve } = Promise.withResolvers<void>();
  async function* slow() {
    yield 1;
    await later;
    yield 2;
  }
  const batches = inBatches(slow(), 100);
  assert.deepEqual(await batches.next(), { done: false, value: [1] });
  resolve();
  assert.deepEqual(await collect(batches), [[2]]);
});

test('items before a failure are delivered before it', async () => {
  async function* failing() {
    yield 1;
    throw new Error('lost');
  }
  const batches = inBatches(failing(), 100);
  assert.deepEqual(await batches.next(), { done: false, value: [1] });
  await assert.rejects(batches.next(), /lost/);
});
