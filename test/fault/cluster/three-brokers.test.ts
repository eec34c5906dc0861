/** Faults of three brokers, one after another. Each test except the last one leaves all of them running. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { Topics } from '../../../src/config/config.ts';
import { createKafkaLog } from '../../../src/engine/log/kafka-log.ts';
import { ensureTopics } from '../../../src/engine/topics/topic-admin.ts';
import { asAdmin } from '../../../src/kafka/admin/admin-client.ts';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import { readTail, tailTopic } from '../../../src/kafka/fetch/topic-tail.ts';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { detectorsFile } from '../../fixture/kafka/kafka-stream.ts';
import { startWorkerProcess, type WorkerProcess } from '../../fixture/kafka/worker-process.ts';
import { deliveredFrom, listen, placed } from '../../fixture/stream/listener.ts';
import { QUICK_DETECTOR, waves } from '../../fixture/stream/scored-stream.ts';
import { TOPICS } from '../../fixture/stream/stream-run.ts';
import { until } from '../../fixture/until.ts';
import { type BrokerCluster, startBrokerCluster } from './broker-cluster.ts';
import { startFeeder } from './feeder.ts';
import { canBeWritten, isPreferredLeader } from './leaders.ts';

let started: Promise<BrokerCluster> | null = null;
const threeBrokers = () => {
  started ??= startBrokerCluster(freshFolder());
  return started;
};
after(async () => {
  await (await started)?.close();
});

function topicsOf(test: string): Topics {
  const { observations, scores, events, changelog, deadLetters } = TOPICS;
  return {
    observations: `${test}-${observations}`,
    scores: `${test}-${scores}`,
    events: `${test}-${events}`,
    changelog: `${test}-${changelog}`,
    deadLetters: `${test}-${deadLetters}`,
  };
}

const MESSAGE = 'the transaction of a partition makes no progress';

/** Only the second broker has dead letters, and only the third one scores; all have the other topics. */
async function spreadTopics(connection: KafkaConnection, names: Topics): Promise<void> {
  const configEntries = [{ name: 'min.insync.replicas', value: '1' }];
  const on = (topic: string, node: number) => {
    return { topic, replicaAssignment: [{ partition: 0, replicas: [node] }], configEntries };
  };
  const topics = [on(names.deadLetters, 2), on(names.scores, 3)];
  await asAdmin(connection, 'creating topics', (admin) => admin.createTopics({ topics, waitForLeaders: true }));
  await ensureTopics(connection, names, { partitions: 1, replicationFactor: 3, retentionMs: null });
}

kafkaTest('an output partition without a leader is named in readiness and once in the log', async (t) => {
  const cluster = await threeBrokers();
  const topics = topicsOf('leaderless');
  await spreadTopics(cluster.direct, topics);
  const worker = await startWorkerProcess({
    detectors: detectorsFile(topics, [QUICK_DETECTOR]),
    env: {
      KAFKA_BROKERS: cluster.direct.config.brokers.join(),
      KAFKA_GROUP_ID: topics.observations,
      KAFKA_SESSION_MS: '6000',
    },
  });
  t.after(() => worker.kill());
  const isReady = async () => (await worker.readiness())?.status === 200;
  const records = waves(1, 90, 1);
  const feed = (fed: typeof records) =>
    until('it is fed', () =>
      produceRecords(cluster.direct, topics.observations, fed).then(
        () => true,
        () => false,
      ),
    );
  const scored = async () =>
    (await readTail(cluster.direct, { topic: topics.scores, partition: 0, recordsMax: 1_000 })).length;
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
  await seeNamed(topics.scores, 1);
  await third.restart();
  await until('it is ready again', isReady);
  await until('it scores', async () => (await scored()) === 60);

  await second.kill();
  await feed([{ partition: 0, key: null, value: Buffer.from('no observation') }]);
  await seeNamed(topics.deadLetters, 2);
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

const PARTITIONS = 6;
/**
 * On a slow machine a follower falls behind, and a cluster that refuses every write for half a minute costs sessions.
 * A coordinator says of too few replicas of the committed offsets that it is not available.
 */
const WRITES_REFUSED = ['fewer in-sync replicas', 'The group coordinator is not available'];

kafkaTest('neither the kill of any broker of three nor a frozen one costs a session', async (t) => {
  const cluster = await threeBrokers();
  const topics = topicsOf('any');
  const closing: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    for (const close of closing.reverse()) await close();
  });
  const names = Object.values(topics);
  await ensureTopics(cluster.direct, topics, { partitions: PARTITIONS, replicationFactor: 3, retentionMs: null });
  const worker = await startWorkerProcess({
    detectors: detectorsFile(topics, [QUICK_DETECTOR]),
    env: { ...cluster.workerEnv, KAFKA_GROUP_ID: topics.observations, LOG_LEVEL: 'debug' },
  });
  closing.push(() => worker.kill());
  const feed = { topic: topics.observations, partitions: PARTITIONS, series: 12, perSecond: 60 };
  const feeder = startFeeder(cluster.direct, feed);
  closing.push(() => feeder.stop());
  const scored = new Set<number>();
  const onRecords = (records: readonly { readonly partition: number }[]) => {
    for (const { partition } of records) scored.add(partition);
  };
  const tail = await tailTopic(cluster.direct, { topic: topics.scores, from: 'latest' }, { onRecords });
  closing.push(() => tail.stop());
  const everyPartitionIsScored = (what: string) => {
    scored.clear();
    return until(`every partition is scored ${what}`, () => scored.size === PARTITIONS);
  };

  await everyPartitionIsScored('at first');
  for (const node of cluster.nodes) {
    await node.kill();
    await until('the others lead', () => canBeWritten(cluster, names, new Set([node.id])));
    await everyPartitionIsScored(`without broker ${node.id}`);
    await node.restart();
    await until('it is in sync', () => canBeWritten(cluster, names, new Set()));
  }
  const [frozen] = cluster.nodes;
  await until('the broker leads again', () => isPreferredLeader(cluster, topics.observations, frozen.id));
  closing.push(() => frozen.thaw());
  let attempts = 0;
  const ends = await asAdmin(cluster.direct, 'ends were read', async (admin) => {
    await admin.fetchTopicOffsets(topics.observations);
    if (++attempts === 1) await frozen.freeze();
    return admin.fetchTopicOffsets(topics.observations);
  });
  assert.equal(ends.length, PARTITIONS);
  assert.ok(attempts > 1, 'an administrator asks the new leaders');
  await until('the others lead', () => canBeWritten(cluster, names, new Set([frozen.id])));
  await everyPartitionIsScored('without the frozen broker');
  const lines = worker.said().split('\n');
  const late = lines.filter((line) => line.includes('timed out') && !line.includes('tidewatch-detectors'));
  assert.deepEqual(late, [], 'no request waited for a broker that had been given up');
  await frozen.thaw();
  await everyPartitionIsScored('when it is thawed');
  const failures = worker.logged('the partition dropped its state and restores it').map(({ err }) => err);
  const lost = failures.filter((error) => !WRITES_REFUSED.some((refusal) => JSON.stringify(error).includes(refusal)));
  assert.deepEqual(lost, []);
  const restores = await worker.metric('tidewatch_restore_seconds_count');
  assert.equal(restores, PARTITIONS + failures.length, 'the first restores alone');
});

/** One partition that the first two brokers hold. Either of them may lead it alone, with what it has. */
async function uncleanTopics(connection: KafkaConnection, names: Topics): Promise<void> {
  const configEntries = [
    { name: 'min.insync.replicas', value: '1' },
    { name: 'unclean.leader.election.enable', value: 'true' },
  ];
  const replicaAssignment = [{ partition: 0, replicas: [1, 2] }];
  const topics = [{ topic: names.observations, replicaAssignment, configEntries }];
  await asAdmin(connection, 'a topic was made', (admin) => admin.createTopics({ topics, waitForLeaders: true }));
  await ensureTopics(connection, names, { partitions: 1, replicationFactor: 3, retentionMs: null });
}

kafkaTest('records that an unclean leader replaced are named, and the new ones are read', async (t) => {
  const cluster = await threeBrokers();
  const topics = topicsOf('unclean');
  const [first, second] = cluster.nodes;
  const append = async (values: readonly string[]) => {
    const records = values.map((value) => ({ partition: 0, key: null, value: Buffer.from(value) }));
    await until('it is written', () =>
      produceRecords(cluster.direct, topics.observations, records).then(
        () => true,
        () => false,
      ),
    );
  };
  await uncleanTopics(cluster.direct, topics);
  await append(['a', 'b']);
  await second.kill();
  // Only the first broker has these.
  await append(['lost-1', 'lost-2', 'lost-3']);
  const log = createKafkaLog({ ...cluster.direct, topics, groupId: topics.observations, sessionMs: 30_000 });
  t.after(() => log.close());
  const session = await log.openPartition(0);
  const delivered = await deliveredFrom(log, 0);
  await until('all are read', () => delivered.length === 5);
  const tailed: string[] = [];
  const appended = Promise.withResolvers<void>();
  const tail = await tailTopic(
    cluster.direct,
    { topic: topics.observations, from: 'earliest' },
    {
      // It does not look while the log ends before its position: then only the epochs show the difference.
      onRecords: async (records) => {
        tailed.push(...records.map(({ value }) => String(value)));
        if (tailed.length === 5) await appended.promise;
      },
    },
  );
  t.after(async () => {
    appended.resolve();
    await tail.stop();
  });
  await until('a tail has read all', () => tailed.length === 5);
  await session.commit([], 5);
  await first.kill();
  await second.restart();
  // As many as were lost, and more: an offset alone does not show the difference.
  await append(['new-1', 'new-2', 'new-3', 'new-4', 'new-5']);
  await until('the newest is read', () => delivered.at(-1)?.value?.toString() === 'new-5');
  const after = ['2:new-1', '3:new-2', '4:new-3', '5:new-4', '6:new-5'];
  const truncated = { first: 2, last: 4, reason: 'records-truncated' };
  assert.deepEqual(delivered.slice(5).map(placed), [truncated, ...after]);
  appended.resolve();
  await until('the tail has read the newest', () => tailed.at(-1) === 'new-5');
  assert.deepEqual(tailed.slice(5), ['new-1', 'new-2', 'new-3', 'new-4', 'new-5']);
  await log.close();

  // Nobody read meanwhile: the committed offset knows its epoch.
  const later = createKafkaLog({ ...cluster.direct, topics, groupId: topics.observations, sessionMs: 30_000 });
  t.after(() => later.close());
  const { subscription, assignments, records: again } = await listen(later);
  await until('it is assigned', () => assignments.at(-1)?.includes(0) === true);
  const { committedOffset } = await later.openPartition(0);
  assert.equal(committedOffset, 5);
  subscription.start(0, committedOffset);
  await until('the newest is read', () => again.at(-1)?.value?.toString() === 'new-5');
  assert.deepEqual(again.map(placed), [truncated, ...after]);
});
