import assert from 'node:assert/strict';
import { test } from 'node:test';
import kafkajs from 'kafkajs';
import { keyPartitioner, recordPartitioner } from '../../../../src/kafka/produce/key-partition.ts';
import { fc } from '../../../fixture/fast-check.ts';

const metadataOf = (partitions: number) =>
  Array.from({ length: partitions }, (_, partitionId) => {
    return { partitionId, leader: partitionId % 2 === 0 ? 1 : -1, partitionErrorCode: 0, replicas: [], isr: [] };
  });

test('a key goes to the partition that other clients choose', () => {
  const theirs = kafkajs.Partitioners.DefaultPartitioner();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.integer({ min: 1, max: 500 }), (bytes, partitions) => {
      const key = Buffer.from(bytes);
      const partitionMetadata = metadataOf(partitions);
      const expected = theirs({ topic: '', partitionMetadata, message: { key, value: null } });
      assert.equal(keyPartitioner(partitions)(key), expected);
      assert.equal(recordPartitioner()(key, partitionMetadata), expected);
    }),
  );
});

test('records without a key go to the partitions that have a leader, in turn', () => {
  const partitionOf = recordPartitioner(0);
  const actual = Array.from({ length: 4 }, () => partitionOf(null, metadataOf(4)));
  assert.deepEqual(actual, [0, 2, 0, 2]);
});
