import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { createKafkaLog } from '../../../../src/engine/log/kafka-log.ts';
import type { InputRecord } from '../../../../src/engine/log/log.ts';
import { ensureTopics } from '../../../../src/engine/topics/topic-admin.ts';
import { readTail } from '../../../../src/kafka/fetch/topic-tail.ts';
import { produceRecords } from '../../../../src/kafka/produce/bulk-producer.ts';
import { alteredResponses } from '../../../fixture/kafka/altered-responses.ts';
import { kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { startOldestKafka } from '../../../fixture/kafka/oldest-kafka.ts';
import { until } from '../../../fixture/until.ts';

const TOPICS = {
  observations: 'observations',
  scores: 'scores',
  events: 'events',
  changelog: 'changelog',
  deadLetters: 'dead-letters',
};
const RECORDS = 20;
const TAKEN_OVER = 8;
const API_VERSIONS = 18;
const OFFSET_FETCH = 9;

/** As of Kafka 2.4. ApiVersions answer, version 3: error i16 | count | [key i16 | least i16 | newest i16 | tags] */
function withOlderOffsetFetch(body: Buffer): void {
  for (let at = 3; at + 7 <= body.length; at += 7) {
    if (body.readInt16BE(at) === OFFSET_FETCH) body.writeInt16BE(6, at + 4);
  }
}

kafkaTest('on Kafka 2.5 a group copies each record once, through a takeover; an older one is named', async (t) => {
  const kafka = await startOldestKafka();
  t.after(() => kafka.close());
  const connection = { config: { brokers: kafka.brokers, clientId: 'tidewatch-test', tls: null, sasl: null } };
  await ensureTopics(connection, TOPICS, { partitions: 1, replicationFactor: 1, retentionMs: null });
  const options = { ...connection, topics: TOPICS, groupId: 'copier', sessionMs: 3_000 };
  const input = Array.from({ length: RECORDS }, (_, at) => ({ key: null, value: Buffer.from(String(at)) }));
  await produceRecords(connection, TOPICS.observations, input);
  const sent = new Set<string>();
  const log = createKafkaLog({
    ...options,
    socketFactory: ({ host, port, onConnect }) => {
      const socket = connect({ host, port }, onConnect);
      const write = socket.write.bind(socket);
      socket.write = (request: Uint8Array | string, ...rest: unknown[]) => {
        if (Buffer.isBuffer(request)) sent.add(`${request.readInt16BE(4)}v${request.readInt16BE(6)}`);
        return write(request, ...(rest as []));
      };
      return socket;
    },
  });
  t.after(() => log.close());
  const received: InputRecord[] = [];
  const assigned = Promise.withResolvers<readonly number[]>();
  const subscription = await log.subscribe({
    onAssignment: (partitions) => assigned.resolve(partitions),
    onRecords: (_partition, records) => received.push(...records),
    onConnection: () => undefined,
    onStalled: () => undefined,
    onFatal: (error) => assert.fail(error),
  });
  assert.deepEqual(await assigned.promise, [0]);
  const copy = async (from: number, end: number) => {
    const session = await log.openPartition(0);
    assert.equal(session.committedOffset ?? 0, from);
    subscription.start(0, from);
    await until('the records are there', () => received.some(({ offset }) => offset === end - 1));
    const byOffset = new Map(received.map((record) => [record.offset, record]));
    for (let offset = from; offset < end; offset++) {
      const { key, value } = byOffset.get(offset)!;
      await session.commit([{ topic: TOPICS.scores, partition: 0, key, value }], offset + 1);
    }
    return session;
  };
  const earlier = await copy(0, TAKEN_OVER);
  await copy(TAKEN_OVER, RECORDS);
  await assert.rejects(earlier.commit([], RECORDS), { code: 'fenced' });
  const scores = () => readTail(connection, { topic: TOPICS.scores, partition: 0, recordsMax: RECORDS + 1 });
  await until('every commit is visible', async () => (await scores()).length >= RECORDS);
  const actual = (await scores()).map(({ value }) => Number(value));
  const expected = input.map(({ value }) => Number(value));
  assert.deepEqual(actual, expected);
  // Produce, Fetch, Metadata, OffsetFetch, JoinGroup, AddPartitionsToTxn, EndTxn, TxnOffsetCommit
  for (const request of ['0v7', '1v11', '3v7', '9v7', '11v5', '24v1', '26v1', '28v3']) {
    assert.ok(sent.has(request), `${request} is not among ${[...sent]}`);
  }

  const socketFactory = alteredResponses(({ apiKey, body }) => {
    if (apiKey === API_VERSIONS) withOlderOffsetFetch(body);
  });
  const older = createKafkaLog({ ...options, socketFactory });
  t.after(() => older.close());
  const text = `The broker at ${kafka.brokers[0]} is older than Kafka 2.5, the oldest release that works`;
  const message = `${text}: its newest OffsetFetch is 6, and 7 is needed`;
  await assert.rejects(older.openPartition(0), { code: 'configuration', retryable: false, message });
});
