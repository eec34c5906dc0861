import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeRecordBatch } from '../../../../src/kafka/batch/record-batch-encoder.ts';
import { LeaderEpochs } from '../../../../src/kafka/fetch/leader-epochs.ts';
import { fc } from '../../../fixture/fast-check.ts';

const NO_IDENTITY = { producerId: -1, producerEpoch: 0, firstSequence: 0, transactional: false };

/** A batch of one record, as a leader of this epoch has stored it. */
function batch(baseOffset: number, epoch: number): Buffer {
  const bytes = encodeRecordBatch([{ key: null, value: null }], NO_IDENTITY, 0);
  bytes.writeBigInt64BE(BigInt(baseOffset), 0);
  bytes.writeInt32BE(epoch, 12);
  return bytes;
}

test('the epoch before an offset is that of the record before it', () => {
  const epochs = new LeaderEpochs();
  epochs.committed(3, 100, 7);
  assert.deepEqual([epochs.before(3, 99), epochs.before(3, 100), epochs.before(4, 100)], [-1, 7, -1]);
  epochs.fetched(3, Buffer.concat([batch(100, 7), batch(101, 9)]));
  assert.deepEqual([epochs.before(3, 101), epochs.before(3, 102), epochs.before(3, 500)], [7, 9, 9]);
});

test('after a truncation the lost records have no epoch any more', () => {
  const epochs = new LeaderEpochs();
  epochs.fetched(0, Buffer.concat([batch(0, 1), batch(5, 2)]));
  epochs.truncate(0, 3);
  assert.equal(epochs.before(0, 3), 1);
  epochs.fetched(0, batch(3, 4));
  assert.equal(epochs.before(0, 4), 4);
});

test('a commit without an epoch teaches nothing, and other partitions are forgotten', () => {
  const epochs = new LeaderEpochs();
  epochs.committed(0, 10, -1);
  epochs.committed(1, 10, 5);
  assert.equal(epochs.before(0, 10), -1);
  epochs.keepOnly(new Set([0]));
  assert.equal(epochs.before(1, 10), -1);
});

test('wherever reading starts over, the epochs are those of the log', () => {
  const steps = fc.array(fc.record({ seek: fc.nat(40), reads: fc.integer({ min: 1, max: 8 }) }), { minLength: 1 });
  const epochOf = (offset: number) => Math.floor(offset / 10);
  fc.assert(
    fc.property(steps, (runs) => {
      const epochs = new LeaderEpochs();
      for (const { seek, reads } of runs) {
        if (seek > 0) epochs.committed(0, seek, epochOf(seek - 1));
        for (let offset = seek; offset < seek + reads; offset++) {
          epochs.fetched(0, batch(offset, epochOf(offset)));
          assert.equal(epochs.before(0, offset + 1), epochOf(offset));
        }
      }
    }),
  );
});
