import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../../fixture/command.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { observationRecord } from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';

const folder = freshFolder();

/** Series of one observation every five minutes; a step of a record is a minute. */
function everyFiveMinutes(from: number, to: number) {
  return Array.from({ length: to - from }, (_, i) =>
    [0, 1, 2, 3].map((n) => ({ partition: n % 2, ...observationRecord(`cpu-${n}`, 5 * (from + i), Math.sin(i)) })),
  ).flat();
}

const detector = (freq: string) => `{ name: cpu, series: "*", freq: ${freq}, h: 8, detection_size: 8, context: 64 }`;
const SHADOWED = '{ name: db, series: "db-*", freq: h, h: 8, detection_size: 8, context: 64 }';

kafkaTest('settings that do not fit the input are found by the worker, and topics shows them elsewhere', async () => {
  const stream = await kafkaStream(2, [detector('30min'), SHADOWED]);
  const worker = await stream.startWorker();
  await stream.feed(everyFiveMinutes(0, 200));
  await stream.settled();
  const warnings = async () => (await worker.readiness())?.warnings ?? [];
  await until('both partitions are judged', async () => (await warnings()).some((text) => /of 800 obs/.test(text)));
  const readiness = await worker.readiness();
  assert.equal(readiness?.status, 200);
  assert.match(readiness.warnings.join('\n'), /^detector db: glob "db-\*" takes no series: detector cpu comes first/m);
  assert.match(
    readiness.warnings.join('\n'),
    /^detector cpu: series arrive every 5min, freq is 30min: \d{3} of 800 observations dropped as duplicates; set freq: 5min/m,
  );
  const found = () => worker.said().match(/"level":"warn".*series arrive every 5min/g)?.length ?? 0;
  assert.equal(found(), 1, 'it is logged once');
  await worker.counts('tidewatch_input_findings', 2);

  const file = join(folder, 'detectors.yaml');
  await writeFile(file, stream.detectors);
  const { config } = await kafkaConnection();
  const env = { KAFKA_BROKERS: config.brokers.join(), KAFKA_GROUP_ID: stream.groupId, DETECTORS: file };
  const topics = await runCommand(['topics', '--partitions', '2'], env);
  assert.equal(topics.exitCode, 0);
  for (const warning of readiness.warnings) assert.ok(topics.err.includes(warning), warning);

  await worker.rewriteDetectors(stream.detectors.replace('30min', '5min'));
  await worker.counts('tidewatch_detector_changes_total', 1);
  await stream.feed(everyFiveMinutes(200, 250));
  await stream.settled();
  await until('only the glob is left', async () => (await warnings()).length === 1);
  const later = await runCommand(['topics', '--partitions', '2'], env);
  assert.doesNotMatch(later.err.join('\n'), /series arrive every/);
  await worker.stop();
});
