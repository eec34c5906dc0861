import assert from 'node:assert/strict';
import { publishDetectors } from '../../../src/app/processes/operations/publish-detectors.ts';
import { kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { detectorsFile, kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import { sines } from '../../fixture/stream/scored-stream.ts';

const SERIES = ['kept-1', 'changed-1'];

function detectors(changedDetectionSize: number): string[] {
  return [
    '{ name: kept, series: "kept-*", freq: min, h: 8, detection_size: 8, context: 64 }',
    `{ name: changed, series: "changed-*", freq: min, h: 8, detection_size: ${changedDetectionSize}, context: 64 }`,
  ];
}

kafkaTest('a running worker takes a changed file and a saved version, and refuses what it cannot use', async () => {
  const stream = await kafkaStream(1, []);
  const { config: kafka } = await kafkaConnection();
  const file = (size: number) => detectorsFile(stream.topics, detectors(size));
  const topic = `${stream.topics.observations}-detectors`;
  const worker = await stream.startWorker({ DETECTORS_TOPIC: topic }, file(8));
  const outcome = (name: string, count: number) => worker.counts('tidewatch_detector_changes_total', count, name);
  await stream.feed(sines(SERIES, 0, 30));
  await stream.scored(60);
  await worker.rewriteDetectors(`${file(16)}  - { name: nothing }\n`);
  await outcome('refused', 1);
  await worker.rewriteDetectors(file(16));
  await outcome('applied', 1);
  await stream.feed(sines(SERIES, 30, 50));
  await stream.scored(100);
  const saved = { version: 3, savedAtMs: 0, savedBy: 'test', comment: null, text: file(24) };
  await publishDetectors({ kafka, topic, like: stream.topics.changelog }, saved);
  await outcome('applied', 2);
  await stream.feed(sines(SERIES, 50, 60));
  await stream.scored(120);
  await worker.stop();

  const bySeries = Map.groupBy(await stream.scores(), ({ series }) => series);
  const restarted = (series: string) => bySeries.get(series)!.flatMap((score, i) => (score.restarted ? [i] : []));
  assert.deepEqual([restarted('kept-1'), restarted('changed-1')], [[], [30, 50]]);
  for (const series of SERIES) {
    assert.deepEqual(
      bySeries.get(series)!.map(({ position }) => position),
      [...Array(60).keys()],
    );
  }
});
