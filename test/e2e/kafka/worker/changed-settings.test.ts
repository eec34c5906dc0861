import assert from 'node:assert/strict';
import { publishDetectors } from '../../../../src/app/processes/detectors-topic.ts';
import { asAdmin } from '../../../../src/kafka/admin/admin-client.ts';
import { kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { detectorsFile, kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { QUICK_DETECTOR, sines, waves } from '../../../fixture/stream/scored-stream.ts';
import { observationRecord } from '../../../fixture/stream/stream-run.ts';

const SERIES = ['kept-1', 'changed-1', 'changed-2'];

function detectors(changedDetectionSize: number): string[] {
  return [
    `{ name: kept, series: "kept-*", freq: min, h: 8, detection_size: 8, context: 64 }`,
    `{ name: changed, series: "changed-*", freq: min, h: 8, detection_size: ${changedDetectionSize}, context: 64 }`,
  ];
}

for (const [which, topicsOf] of [
  ['the input topic alone', ({ observations }) => [observations]],
  ['all topics', ({ observations, scores, events, changelog }) => [observations, scores, events, changelog]],
] as const satisfies [string, (topics: Awaited<ReturnType<typeof kafkaStream>>['topics']) => string[]][]) {
  kafkaTest(`a worker refuses to start when ${which} got more partitions since its series were learned`, async () => {
    const stream = await kafkaStream(2, [QUICK_DETECTOR]);
    await stream.feed(waves(4, 20, 2));
    const worker = await stream.startWorker();
    await stream.settled();
    await worker.stop();
    await addPartitions(topicsOf(stream.topics), 6);
    await stream.feed([3, 4, 5].map((partition) => ({ partition, ...observationRecord('series-0', 30, 1) })));

    const refused = await stream.startWorker();
    assert.deepEqual(await refused.ended, { code: 1, signal: null });
    assert.match(refused.said(), new RegExp(`${stream.topics.observations} (has|had) `));
    assert.match(refused.said(), /state repartition --partitions 6/);
    assert.doesNotMatch(refused.said(), /\n\s+at /);
  });
}

async function addPartitions(topics: readonly string[], count: number): Promise<void> {
  const topicPartitions = topics.map((topic) => ({ topic, count }));
  await asAdmin(await kafkaConnection(), 'partitions were added', (admin) =>
    admin.createPartitions({ topicPartitions }),
  );
}

kafkaTest('a running worker takes a changed file and a saved version, and refuses what it cannot use', async () => {
  const stream = await kafkaStream(1, []);
  const { config: kafka } = await kafkaConnection();
  const file = (size: number) => detectorsFile(stream.topics, detectors(size));
  const topic = `${stream.topics.observations}-detectors`;
  const worker = await stream.startWorker({ DETECTORS_TOPIC: topic }, file(8));
  const outcome = (name: string, count: number) => worker.counts('tidewatch_detector_changes_total', count, name);
  await stream.feed(sines(SERIES, 0, 30));
  await stream.scored(30 * SERIES.length);
  await worker.rewriteDetectors(`${file(16)}  - { name: nothing }\n`);
  await outcome('refused', 1);
  await worker.rewriteDetectors(file(16));
  await outcome('applied', 1);
  await stream.feed(sines(SERIES, 30, 50));
  await stream.scored(50 * SERIES.length);
  const saved = { version: 3, savedAtMs: 0, savedBy: 'test', comment: null, text: file(24) };
  await publishDetectors({ kafka, topic, like: stream.topics.changelog }, saved);
  await outcome('applied', 2);
  await stream.feed(sines(SERIES, 50, 60));
  await stream.scored(60 * SERIES.length);
  await worker.stop();

  const bySeries = Map.groupBy(await stream.scores(), ({ series }) => series);
  const restarted = (series: string) => bySeries.get(series)!.flatMap((score, i) => (score.restarted ? [i] : []));
  assert.deepEqual(SERIES.map(restarted), [[], [30, 50], [30, 50]]);
  for (const series of SERIES) {
    assert.deepEqual(
      bySeries.get(series)!.map(({ position }) => position),
      [...Array(60).keys()],
    );
  }
});
