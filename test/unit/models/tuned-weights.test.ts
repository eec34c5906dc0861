import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { bytesOfWeights, shareWeights, WeightsCache } from '../../../src/models/tuned-weights.ts';

test('weights survive the way through bytes at any offset, with the digest of the bytes', () => {
  const theta = Float32Array.of(1, -2.5, 1e-9);
  const bytes = bytesOfWeights(theta);
  const shifted = new Uint8Array(bytes.length + 1);
  shifted.set(bytes, 1);
  const shared = shareWeights(shifted.subarray(1));
  assert.deepEqual([...shared.theta], [...theta]);
  assert.equal(shared.digest, createHash('sha256').update(bytes).digest('hex'));
  assert.equal(shareWeights(theta).digest, shared.digest);
});

test('the least recently used weights are evicted first', async () => {
  const cache = new WeightsCache(2);
  const reads: string[] = [];
  const get = (digest: string) =>
    cache.get(digest, async () => {
      reads.push(digest);
      return bytesOfWeights(Float32Array.of(1));
    });
  for (const digest of ['a', 'b', 'a', 'c', 'a', 'b']) await get(digest);
  assert.deepEqual(reads, ['a', 'b', 'c', 'b']);
});

test('concurrent calls share one read, and a failed read is not cached', async () => {
  const cache = new WeightsCache(2);
  let reads = 0;
  const failing = async () => {
    reads++;
    throw new Error('damaged');
  };
  const both = await Promise.allSettled([cache.get('a', failing), cache.get('a', failing)]);
  assert.deepEqual([reads, ...both.map(({ status }) => status)], [1, 'rejected', 'rejected']);
  await assert.rejects(cache.get('a', failing), /damaged/);
  assert.equal(reads, 2);
});
