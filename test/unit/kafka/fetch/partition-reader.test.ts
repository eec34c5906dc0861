import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeRecordBatch } from '../../../../src/kafka/batch/record-batch-encoder.ts';
import { takeBatch } from '../../../../src/kafka/batch/reused-bytes.ts';
import type { FetchedTopic } from '../../../../src/kafka/fetch/fetch.ts';
import { copyPartition, readPartition } from '../../../../src/kafka/fetch/partition-reader.ts';
import type { Cluster } from '../../../../src/kafka/protocol/protocol-request.ts';

const noIdentity = { producerId: -1, producerEpoch: 0, firstSequence: 0, transactional: false };
const NOTHING = Buffer.alloc(0);

/** A cluster of one broker, which leads partition 0 and answers fetches in this order, the last one for ever. */
function clusterAnswering(...answers: readonly { readonly records: Buffer; readonly stableOffset: number }[]): Cluster {
  let asked = 0;
  const send = async (): Promise<FetchedTopic> => {
    const { records, stableOffset } = answers[Math.min(asked++, answers.length - 1)];
    const offsets = { endOffset: stableOffset, lastStableOffset: stableOffset };
    return { throttledMs: 0, partitions: [{ partition: 0, errorCode: 0, aborted: [], records, ...offsets }] };
  };
  const cluster = {
    findTopicPartitionMetadata: () => [{ partitionId: 0, leader: 1 }],
    findBroker: async () => ({ versions: { 1: { minVersion: 4, maxVersion: 18 } }, connectionPool: { send } }),
    refreshMetadata: async () => undefined,
  };
  return cluster as unknown as Cluster;
}

async function keysRead(cluster: Cluster, end: number): Promise<(string | undefined)[]> {
  const keys: (string | undefined)[] = [];
  await readPartition(cluster, { topic: 'changelog', partition: 0, from: 0, end }, (_offset, _ms, key) =>
    keys.push(key?.toString()),
  );
  return keys;
}

const two = encodeRecordBatch(
  ['a', 'b'].map((key) => ({ key: Buffer.from(key), value: null })),
  noIdentity,
  0,
);

test('a new leader that does not know the last stable offset yet is waited for: nothing is left out', async () => {
  const behind = { records: NOTHING, stableOffset: 0 };
  const cluster = clusterAnswering(behind, behind, behind, behind, { records: two, stableOffset: 2 });
  assert.deepEqual(await keysRead(cluster, 2), ['a', 'b']);
});

test('records that compaction removed at the end are not waited for', async () => {
  const cluster = clusterAnswering({ records: two, stableOffset: 9 }, { records: NOTHING, stableOffset: 9 });
  assert.deepEqual(await keysRead(cluster, 9), ['a', 'b']);
});

test('the bytes of a response are used again once it is read, and copies are not affected', async () => {
  const large = encodeRecordBatch([{ key: null, value: Buffer.alloc(100_000, 1) }], noIdentity, 0);
  const records = takeBatch(large.length);
  large.copy(records);
  const range = { topic: 'changelog', partition: 0, from: 0, end: 1 };
  const [copied] = await copyPartition(clusterAnswering({ records, stableOffset: 1 }), range);
  assert.equal(takeBatch(large.length).fill(2).buffer, records.buffer);
  assert.deepEqual(copied.value, Buffer.alloc(100_000, 1));
});
