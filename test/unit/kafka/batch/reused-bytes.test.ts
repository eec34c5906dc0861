import assert from 'node:assert/strict';
import { test } from 'node:test';
import { giveBackBatch, giveBackRecords, takeBatch, takeRecord } from '../../../../src/kafka/batch/reused-bytes.ts';
import { fc } from '../../../fixture/fast-check.ts';

test('records keep their bytes until they are given back, in any order', () => {
  const steps = fc.array(fc.record({ bytes: fc.integer({ min: 0, max: 60_000 }), givenBack: fc.nat(3) }), {
    minLength: 50,
    maxLength: 150,
  });
  fc.assert(
    fc.property(steps, fc.infiniteStream(fc.nat(1_000)), (takes, choices) => {
      const held: { value: Buffer; fill: number }[] = [];
      takes.forEach(({ bytes, givenBack }, at) => {
        const fill = at % 251;
        held.push({ value: takeRecord(Buffer.alloc(bytes, fill)), fill });
        for (let i = 0; i < givenBack && held.length > 0; i++) {
          const [one] = held.splice((choices.next().value ?? 0) % held.length, 1);
          giveBackRecords([one, { value: null }, { value: Buffer.from('of another origin') }]);
        }
        for (const { value, fill: own } of held) assert.ok(value.every((byte) => byte === own));
      });
      giveBackRecords(held);
    }),
    { numRuns: 20, endOnFailure: true },
  );
});

test('slabs and batches that were given back are used again', () => {
  const buffers = new Set<ArrayBufferLike>();
  for (let i = 0; i < 1_000; i++) {
    const record = { value: takeRecord(Buffer.alloc(10_000)) };
    buffers.add(record.value.buffer);
    giveBackRecords([record]);
  }
  assert.ok(buffers.size <= 2);
  const batch = takeBatch(100_000);
  giveBackBatch(batch);
  const next = takeBatch(90_000);
  assert.deepEqual([next.buffer === batch.buffer, next.length], [true, 90_000]);
  assert.notEqual(takeBatch(100_000).buffer, batch.buffer, 'it is on its way');
});

test('lengths that are not taken any more keep out no others', () => {
  for (const large of Array.from({ length: 20 }, () => takeBatch(2_000_000))) giveBackBatch(large);
  const small = Array.from({ length: 8 }, () => takeBatch(500_000));
  small.forEach(giveBackBatch);
  const again = new Set(small.map(() => takeBatch(500_000).buffer));
  assert.deepEqual(again, new Set(small.map(({ buffer }) => buffer)));
});

test('a batch that is a part of the pool of Node is not used again', () => {
  for (let i = 0; i < 20; i++) {
    // Compression makes one of these.
    const pooled = Buffer.concat([Buffer.alloc(10_000), Buffer.alloc(10_000)]);
    giveBackBatch(pooled);
    giveBackBatch(takeBatch(100));
    const others = [16_384, 60_000, 120_000].map((bytes) => takeBatch(bytes).buffer);
    const text = Buffer.from('of somebody else');
    assert.ok(!others.includes(pooled.buffer) && !others.includes(text.buffer));
  }
});
