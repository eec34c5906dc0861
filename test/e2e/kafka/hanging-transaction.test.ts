import assert from 'node:assert/strict';
import { createKafkaLog } from '../../../src/stream/log/kafka-log.ts';
import { freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { kafkaClient } from '../../fixture/kafka/kafka-client.ts';

kafkaTest(
  'a hanging transaction in the changelog is named, and nothing is restored from what is before it',
  async (t) => {
    const connection = await kafkaConnection();
    const topics = await freshTopics(1);
    const log = createKafkaLog({ ...connection, topics, groupId: `group-${topics.observations}`, sessionMs: 3_000 });
    t.after(() => log.close());
    const written = await log.openPartition(0);
    const state = (value: string) => [
      { topic: topics.changelog, partition: 0, key: Buffer.from('k'), value: Buffer.from(value) },
    ];
    await written.commit(state('1'), 1);
    const { kafka, destroy } = kafkaClient(connection);
    t.after(destroy);
    const foreign = kafka.producer({ transactionalId: `foreign-${topics.changelog}`, maxInFlightRequests: 1 });
    await foreign.connect();
    const hanging = await foreign.transaction();
    await hanging.send({ topic: topics.changelog, messages: [{ partition: 0, key: 'x', value: 'never committed' }] });
    await written.commit(state('2'), 2);
    const session = await log.openPartition(0);
    const reading = session.readChangelog(() => assert.fail('nothing is to be restored'));
    await assert.rejects(reading, { code: 'broker-unavailable', message: /transaction hangs in partition 0 of topic/ });
    await hanging.abort();
    const read: string[] = [];
    await (await log.openPartition(0)).readChangelog((_key, value) => read.push(String(value)));
    assert.deepEqual(read, ['1', '2']);
    await foreign.disconnect();
  },
);
