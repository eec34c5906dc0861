import assert from 'node:assert/strict';
import { ensureTopics } from '../../../src/engine/topics/topic-admin.ts';
import { asAdmin } from '../../../src/kafka/admin/admin-client.ts';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import { readTail } from '../../../src/kafka/fetch/topic-tail.ts';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import { startBrokerCluster } from '../../fault/cluster/broker-cluster.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { detectorsFile } from '../../fixture/kafka/kafka-stream.ts';
import { startWorkerProcess, type WorkerProcess } from '../../fixture/kafka/worker-process.ts';
import { QUICK_DETECTOR, waves } from '../../fixture/stream/scored-stream.ts';
import { TOPICS } from '../../fixture/stream/stream-run.ts';
import { until } from '../../fixture/until.ts';

const MESSAGE = 'the transaction of a partition makes no progress';

/** Only the second broker has dead letters, and only the third one scores; all have the other topics. */
async function makeTopics(connection: KafkaConnection): Promise<void> {
  const configEntries = [{ name: 'min.insync.replicas', value: '1' }];
  const on = (topic: string, node: number) => {
    return { topic, replicaAssignment: [{ partition: 0, replicas: [node] }], configEntries };
  };
  const topics = [on(TOPICS.deadLetters, 2), on(TOPICS.scores, 3)];
  await asAdmin(connection, 'topics were made', (admin) => admin.createTopics({ topics, waitForLeaders: true }));
  await ensureTopics(connection, TOPICS, { partitions: 1, replicationFactor: 3, retentionMs: null });
}

kafkaTest('an output partition without a leader is named in readiness and once in the log', async (t) => {
  const folder = freshFolder();
  const cluster = await startBrokerCluster(folder);
  t.after(() => cluster.close());
  await makeTopics(cluster.direct);
  const worker = await startWorkerProcess({
    detectors: detectorsFile(TOPICS, [QUICK_DETECTOR]),
    env: { KAFKA_BROKERS: cluster.direct.config.brokers.join(), KAFKA_GROUP_ID: 'group', KAFKA_SESSION_MS: '6000' },
  });
  t.after(() => worker.kill());
  const isReady = async () => (await worker.readiness())?.status === 200;
  const records = waves(1, 90, 1);
  const feed = (fed: typeof records) =>
    until('it is fed', () =>
      produceRecords(cluster.direct, TOPICS.observations, fed).then(
        () => true,
        () => false,
      ),
    );
  const scored = async () =>
    (await readTail(cluster.direct, { topic: TOPICS.scores, partition: 0, recordsMax: 1_000 })).length;
  const seeNamed = async (topic: string, logged: number) => {
    const startedMs = performance.now();
    await until('it is not ready', async () => (await worker.readiness())?.status === 503);
    t.diagnostic(`${topic}: not ready after ${Math.round(performance.now() - startedMs)} ms`);
    await until('the topic is named', async () => namesTopic(worker, topic));
    await until('it is logged', () => worker.logged(MESSAGE).length >= logged);
    assert.equal(worker.logged(MESSAGE).length, logged);
  };
  await until('it is ready', isReady);
  await feed(records.slice(0, 30));
  await until('it scores', async () => (await scored()) === 30);

  const [, second, third] = cluster.nodes;
  await third.kill();
  await feed(records.slice(30, 60));
  await seeNamed(TOPICS.scores, 1);
  await third.restart();
  await until('it is ready again', isReady);
  await until('it scores', async () => (await scored()) === 60);

  await second.kill();
  await feed([{ partition: 0, key: null, value: Buffer.from('no observation') }]);
  await seeNamed(TOPICS.deadLetters, 2);
  await second.restart();
  await until('it is ready again', isReady);
  await feed(records.slice(60));
  await until('it scores', async () => (await scored()) === 90);
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
});

async function namesTopic(worker: WorkerProcess, topic: string): Promise<boolean> {
  const { status, reasons } = (await worker.readiness())!;
  return status === 503 && reasons.some((reason) => reason.includes(`of topic ${topic} has no leader`));
}
