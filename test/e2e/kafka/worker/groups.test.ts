import assert from 'node:assert/strict';
import type { ProducerRecord } from '../../../../src/kafka/produce/bulk-producer.ts';
import { kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { lines, observationRecord, stepOf } from '../../../fixture/stream/stream-run.ts';

const DETECTORS = [
  '{ name: cluster, series: "*", freq: min, h: 4, detection_size: 4, context: 32, level: 99, threshold_method: multivariate, group: group }',
];
const MEMBERS = ['a', 'b', 'c'];

function observation(member: string, step: number): ProducerRecord {
  const which = MEMBERS.indexOf(member);
  const noise = ((step * 7_919 + which * 104_729) % 101) / 100;
  return { partition: 0, ...observationRecord(member, step, Math.sin(step / (2 + which)) + noise, 'eu') };
}

for (const [how, end] of [
  ['stopped', 'stop'],
  ['killed', 'kill'],
] as const) {
  kafkaTest(`a worker that is ${how} in the middle of a step of a group loses nothing of it`, async () => {
    const stream = await kafkaStream(1, DETECTORS);
    for (let step = 0; step < 30; step += 10) {
      const worker = await stream.startWorker();
      for (let next = step; next < step + 9; next++) {
        await stream.feed(MEMBERS.map((member) => observation(member, next)));
      }
      await stream.feed([observation('a', step + 9), observation('c', step + 9)]);
      await stream.settled();
      await worker[end]();
      await stream.feed([observation('b', step + 9)]);
    }
    const last = await stream.startWorker();
    await stream.settled();
    const scores = await stream.scores();
    const orderAt = (step: number) => (step % 10 === 9 ? ['a', 'c', 'b'] : MEMBERS);
    assert.deepEqual(
      lines(scores, ({ timestampMs }) => stepOf(timestampMs), 'series', 'position'),
      Array.from({ length: 30 }, (_, step) => orderAt(step).map((member) => `${step} ${member} ${step}`)).flat(),
    );
    assert.ok(scores.every(({ restarted }) => !restarted));
    await last.stop();
  });
}
