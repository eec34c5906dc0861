import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../../src/config/process-environment.ts';
import { kafkaClassPath } from '../../../../src/demo/local-kafka/java-artifacts.ts';
import { CODEC_MASK } from '../../../../src/kafka/batch/record-batch-layout.ts';
import { linkCluster } from '../../../../src/kafka/cluster/connection.ts';
import { leaderOf } from '../../../../src/kafka/cluster/leader.ts';
import { fetchTopic } from '../../../../src/kafka/fetch/fetch.ts';
import { commitInTransaction } from '../../../../src/kafka/produce/committed-offset.ts';
import { produceBatches } from '../../../../src/kafka/produce/produce.ts';
import {
  addOffsets,
  addPartitions,
  endTransaction,
  initProducer,
  type TransactionProtocol,
} from '../../../../src/kafka/produce/transaction-requests.ts';
import { fetchVersions } from '../../../../src/kafka/protocol/api-versions.ts';
import type { Broker, Cluster } from '../../../../src/kafka/protocol/protocol-request.ts';
import { fakeBroker } from '../../../fixture/kafka/fake-broker.ts';
import { committedRecords, freshLog, freshTopics, kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { kafkaClient } from '../../../fixture/kafka/kafka-client.ts';
import { until } from '../../../fixture/until.ts';

const runJava = promisify(execFile);
const SOURCE = join(import.meta.dirname, '../../../fixture/kafka/java', 'ProtocolBytes.java');

const PRODUCER = { transactionalId: 'id-ä', producerId: 2 ** 40, producerEpoch: 32_000 };
const NEXT = { producerId: 2 ** 40 + 1, producerEpoch: 0 };
const MOVED = { groupId: 'g', topic: 'observations', partition: 3, offset: 2 ** 41, leaderEpoch: 5, metadata: 'noted' };
const BATCH = Buffer.from('any bytes');

interface Case {
  readonly name: string;
  readonly key: number;
  readonly version: number;
  readonly request: object;
  readonly answer: object;
  send(broker: Broker): Promise<unknown>;
  /** What `send` resolves to. */
  readonly result?: unknown;
}

const THROTTLED = { throttleTimeMs: 0 };
const OK = { ...THROTTLED, errorCode: 0 };
const BEFORE_THE_TOPICS = {
  transactionalId: PRODUCER.transactionalId,
  groupId: MOVED.groupId,
  producerId: PRODUCER.producerId,
  producerEpoch: PRODUCER.producerEpoch,
};

function produceCase(version: number, protocol: TransactionProtocol): Case {
  const name = 'scores';
  const errors = { recordErrors: [{ batchIndex: 1, batchIndexErrorMessage: 'refused' }], errorMessage: null };
  const written = { index: 2, errorCode: 0, baseOffset: 7, logAppendTimeMs: -1, logStartOffset: 1 };
  return {
    name: 'Produce',
    key: 0,
    version,
    request: {
      transactionalId: PRODUCER.transactionalId,
      acks: -1,
      timeoutMs: 15_000,
      topicData: [{ name, partitionData: [{ index: 2, records: BATCH.toString('base64') }] }],
    },
    answer: { responses: [{ name, partitionResponses: [{ ...written, ...(version >= 8 && errors) }] }], ...THROTTLED },
    send: (broker) => {
      const cluster = {
        findTopicPartitionMetadata: () => [{ partitionId: 2, leader: 1 }],
        findBroker: async () => broker,
      } as unknown as Cluster;
      const transaction = { id: PRODUCER.transactionalId, protocol };
      return produceBatches(cluster, [{ topic: name, partition: 2, batch: BATCH }], { transaction });
    },
    result: 1,
  };
}

function offsetCase(version: number, protocol: TransactionProtocol): Case {
  const { topic, partition, offset, leaderEpoch, metadata } = MOVED;
  const committed = { committedOffset: offset, committedLeaderEpoch: leaderEpoch, committedMetadata: metadata };
  return {
    name: 'TxnOffsetCommit',
    key: 28,
    version,
    request: {
      ...BEFORE_THE_TOPICS,
      generationId: -1,
      memberId: '',
      groupInstanceId: null,
      topics: [{ name: topic, partitions: [{ partitionIndex: partition, ...committed }] }],
    },
    answer: { ...THROTTLED, topics: [{ name: topic, partitions: [{ partitionIndex: partition, errorCode: 0 }] }] },
    send: (broker) => commitInTransaction(broker, { producer: PRODUCER, protocol }, MOVED),
  };
}

function endCase(version: number, protocol: TransactionProtocol): Case {
  return {
    name: 'EndTxn',
    key: 26,
    version,
    request: { ...PRODUCER, committed: true },
    answer: version >= 5 ? { ...OK, ...NEXT } : OK,
    send: (broker) => endTransaction(broker, PRODUCER, { commits: true, protocol }),
    result: version >= 5 ? { ...PRODUCER, ...NEXT } : PRODUCER,
  };
}

const CASES: readonly Case[] = [
  produceCase(7, 'v1'),
  produceCase(11, 'v1'),
  produceCase(12, 'v2'),
  offsetCase(3, 'v1'),
  offsetCase(4, 'v1'),
  offsetCase(5, 'v2'),
  endCase(1, 'v1'),
  endCase(4, 'v1'),
  endCase(5, 'v2'),
  ...[1, 5].map((version) => ({
    name: 'InitProducerId',
    key: 22,
    version,
    request: {
      transactionalId: PRODUCER.transactionalId,
      transactionTimeoutMs: 30_000,
      ...(version >= 3 && { producerId: -1, producerEpoch: -1 }),
    },
    answer: { ...OK, ...NEXT },
    send: (broker: Broker) => initProducer(broker, { ...PRODUCER, transactionMs: 30_000 }),
    result: { transactionalId: PRODUCER.transactionalId, ...NEXT },
  })),
  ...[1, 3].map((version) => ({
    name: 'AddPartitionsToTxn',
    key: 24,
    version,
    request: {
      v3AndBelowTransactionalId: PRODUCER.transactionalId,
      v3AndBelowProducerId: PRODUCER.producerId,
      v3AndBelowProducerEpoch: PRODUCER.producerEpoch,
      v3AndBelowTopics: [{ name: 'scores', partitions: [1, 2] }],
    },
    answer: {
      ...THROTTLED,
      resultsByTopicV3AndBelow: [
        { name: 'scores', resultsByPartition: [{ partitionIndex: 1, partitionErrorCode: 0 }] },
      ],
    },
    send: (broker: Broker) => addPartitions(broker, PRODUCER, [{ topic: 'scores', partitions: [1, 2] }]),
  })),
  ...[1, 4].map((version) => ({
    name: 'AddOffsetsToTxn',
    key: 25,
    version,
    request: { ...PRODUCER, groupId: 'g' },
    answer: OK,
    send: (broker: Broker) => addOffsets(broker, PRODUCER, 'g'),
  })),
];

/** The versions from which on messages are compact, and their headers end with tagged fields. */
const COMPACT_SINCE: Readonly<Record<number, number>> = { 0: 9, 22: 2, 24: 3, 25: 3, 26: 3, 28: 3 };
const isCompact = ({ key, version }: Case) => version >= COMPACT_SINCE[key];
const withHeader = (each: Case, bytes: Buffer) => (isCompact(each) ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes);

const FEATURES = {
  errorCode: 0,
  apiKeys: [{ apiKey: 9, minVersion: 1, maxVersion: 10 }],
  ...THROTTLED,
  supportedFeatures: [{ name: 'transaction.version', minVersion: 1, maxVersion: 2 }],
  finalizedFeaturesEpoch: 9,
  finalizedFeatures: [
    { name: 'metadata.version', maxVersionLevel: 25, minVersionLevel: 1 },
    { name: 'transaction.version', maxVersionLevel: 2, minVersionLevel: 0 },
  ],
  zkMigrationReady: false,
};

kafkaTest("requests and answers of transactions are the bytes of Kafka's own classes", async () => {
  const software = { clientSoftwareName: 'tidewatch', clientSoftwareVersion: '1' };
  const messages = [
    ...CASES.flatMap(({ name, version, request, answer }) => [
      ...[`${name}Request`, String(version), JSON.stringify(request)],
      ...[`${name}Response`, String(version), JSON.stringify(answer)],
    ]),
    ...['ApiVersionsRequest', '3', JSON.stringify(software)],
    ...['ApiVersionsResponse', '3', JSON.stringify(FEATURES)],
  ];
  const { stdout } = await runJava('java', ['-cp', await kafkaClassPath(cacheFolder()), SOURCE, ...messages]);
  const bytes = stdout
    .trim()
    .split('\n')
    .map((line) => Buffer.from(line, 'hex'));
  for (const [at, each] of CASES.entries()) {
    const [request, answer] = bytes.slice(2 * at).map((message) => withHeader(each, message));
    const named = `${each.name} ${each.version}`;
    const broker = fakeBroker({ [each.key]: [0, each.version] }, ({ version, body }) => {
      assert.equal(version, each.version, named);
      assert.equal(body.toString('hex'), request.toString('hex'), named);
      return answer;
    });
    assert.deepEqual(await each.send(broker), each.result, named);
  }
  const [request, answer] = bytes.slice(2 * CASES.length);
  const { versions, features } = await fetchVersions(
    fakeBroker({}, ({ body }) => {
      assert.equal(body.toString('hex'), `00${request.toString('hex')}`);
      // Its header never has tagged fields.
      return answer;
    }),
    0,
  );
  assert.deepEqual(versions, { 9: { minVersion: 1, maxVersion: 10 } });
  assert.deepEqual(Object.fromEntries(features), { 'metadata.version': 25, 'transaction.version': 2 });
});

const recordCount = 20_000;
const LIMITS = { waitMsMax: 1_000, partitionBytesMax: 1_048_576, responseBytesMax: 1_048_576 };
const ATTRIBUTES_AT = 21;

/** The codec of the first batch of partition 0. */
async function storedCodec(topic: string): Promise<number> {
  const { cluster, destroy } = await linkCluster(await kafkaConnection(), [topic]);
  const broker = await cluster.findBroker({ nodeId: leaderOf(cluster, topic, 0) });
  const { partitions } = await fetchTopic(broker, { topic, positions: [{ partition: 0, offset: 0 }], limits: LIMITS });
  destroy();
  return partitions[0].records.readInt16BE(ATTRIBUTES_AT) & CODEC_MASK;
}

for (const [compression, codec] of [
  ['gzip', 1],
  ['zstd', 4],
] as const) {
  kafkaTest(`scores in ${compression} are read by any client, with their headers and timestamps`, async (t) => {
    const { connection, topics, log } = await freshLog(t, { compression });
    const session = await log.openPartition(0);
    const headers = [['traceparent', Buffer.from('00-abc')]] as const;
    const outputs = Array.from({ length: 500 }, (_, i) => {
      const place = { topic: topics.scores, partition: 0, key: Buffer.from('k') };
      return { ...place, value: Buffer.from(`{"score":${i},"forecast":null}`), headers, timestampMs: 86_400_000 + i };
    });
    await session.commit(outputs, 500);
    assert.equal(await storedCodec(topics.scores), codec);
    const read = await committedRecords(topics.scores, 0);
    const actual = read.map((record) => [String(record.value), record.headers, record.timestampMs]);
    const expected = outputs.map((output) => [String(output.value), headers, output.timestampMs]);
    assert.deepEqual(actual, expected);
    const { kafka, destroy } = kafkaClient(connection);
    t.after(destroy);
    if (compression === 'zstd') return;
    const consumer = kafka.consumer({ groupId: `reader-${topics.scores}` });
    await consumer.connect();
    await consumer.subscribe({ topic: topics.scores, fromBeginning: true });
    let seen = 0;
    await consumer.run({
      eachBatch: async ({ batch }) => {
        seen += batch.messages.length;
      },
    });
    await until('kafkajs has read them', () => seen >= outputs.length);
    await consumer.disconnect();
  });
}

kafkaTest("records that Kafka's own client compressed are read, in every codec", async () => {
  const { brokers } = (await kafkaConnection()).config;
  const classPath = await kafkaClassPath(cacheFolder());
  const topicOf = new Map<string, string>();
  for (const codec of ['gzip', 'snappy', 'lz4', 'zstd']) topicOf.set(codec, (await freshTopics(1)).observations);
  const source = join(import.meta.dirname, '../../../fixture/kafka/java', 'CompressedRecords.java');
  const topics = [...topicOf].map(([codec, topic]) => `${codec}=${topic}`);
  await runJava('java', ['-cp', classPath, source, brokers[0], String(recordCount), ...topics]);
  for (const [codec, topic] of topicOf) {
    const values = (await committedRecords(topic, 0)).map(({ value }) => String(value));
    const written = Array.from({ length: recordCount }, (_, at) => `${codec}-${at}`);
    assert.deepEqual(values, written);
  }
});
