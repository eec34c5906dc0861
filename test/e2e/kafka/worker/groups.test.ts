import assert from 'node:assert/strict';
import type { ProducerRecord } from '../../../../src/kafka/produce/bulk-producer.ts';
import type { ScoreRecord } from '../../../../src/records/score-record.ts';
import { kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { observationRecord, START_MS, STEP_MS } from '../../../fixture/stream/stream-run.ts';

const DETECTORS = [
  '{ name: cluster, series: "*", freq: min, h: 4, detection_size: 4, context: 32, level: 99, threshold_method: multivariate, group: group }',
];
const MEMBERS = ['a', 'b', 'c'];
/** Of these steps the last windows are scored. */
const STEPS = 56;
const BREAK = 52;

function observation(member: string, step: number): ProducerRecord {
  const which = MEMBERS.indexOf(member);
  const noise = ((step * 7_919 + which * 104_729) % 101) / 100;
  const value = Math.sin(step / (2 + which)) + noise + (step === BREAK ? 100 : 0);
  return { partition: 0, ...observationRecord(member, step, value, 'eu') };
}

const stepOf = ({ timestampMs }: ScoreRecord) => (timestampMs - START_MS) / STEP_MS;

kafkaTest('the members of a group are scored together, and all are flagged when the group is', async () => {
  const stream = await kafkaStream(2, DETECTORS);
  const worker = await stream.startWorker();
  await stream.feed(
    Array.from({ length: STEPS }, (_, step) => MEMBERS.map((member) => observation(member, step))).flat(),
  );
  await stream.settled();
  const scores = await stream.scores();
  assert.equal(scores.length, STEPS * MEMBERS.length);
  for (const [step, together] of Map.groupBy(scores, stepOf)) {
    assert.deepEqual(
      together.map(({ series }) => series),
      MEMBERS,
    );
    assert.equal(new Set(together.map(({ accumulatedAnomalyScore }) => accumulatedAnomalyScore)).size, 1);
    assert.ok(together.every(({ anomaly }) => anomaly === (together[0].anomaly && step >= BREAK)));
    assert.ok(together.every(({ position, group }) => position === step && group === 'eu'));
    if (together[0].state === 'scored') assert.notEqual(together[0].accumulatedAnomalyScore, null);
  }
  const broken = scores.filter((score) => stepOf(score) === BREAK);
  assert.deepEqual(
    broken.map(({ state, anomaly }) => [state, anomaly]),
    MEMBERS.map(() => ['scored', true]),
  );
  await worker.stop();
});

kafkaTest('a missing member is waited for during the grace, then the others are scored without it', async () => {
  const stream = await kafkaStream(1, DETECTORS);
  const worker = await stream.startWorker();
  const scored = async () => (await stream.scores()).map((score) => `${score.series}${stepOf(score)}`);
  // The first step waits out its grace in any case.
  await stream.feed([0, 1, 2].flatMap((step) => MEMBERS.map((member) => observation(member, step))));
  await stream.feed([observation('a', 3), observation('b', 3), observation('a', 4), observation('b', 4)]);
  await stream.settled();
  assert.deepEqual((await scored()).slice(-3), ['a2', 'b2', 'c2']);
  await stream.feed([observation('a', 5)]);
  await stream.settled();
  assert.deepEqual((await scored()).slice(-2), ['a3', 'b3']);
  await stream.feed([observation('c', 3), observation('c', 4)]);
  await stream.settled();
  assert.deepEqual((await scored()).slice(-3), ['a4', 'b4', 'c4']);
  assert.deepEqual(
    (await stream.deadLetters()).map(({ reason, series, input }) => [reason, series, input.offset]),
    [['late', 'c', 14]],
  );
  await worker.stop();
});

kafkaTest('a member on another partition than its group becomes a dead letter', async () => {
  const stream = await kafkaStream(2, DETECTORS);
  let worker = await stream.startWorker();
  await stream.feed(MEMBERS.map((member) => observation(member, 0)));
  await stream.settled();
  const elsewhere = { ...observation('a', 1), partition: 1 };
  await stream.feed([elsewhere, { ...observation('b', 1), key: Buffer.from('b') }]);
  await stream.settled();
  await worker.stop();
  worker = await stream.startWorker();
  await stream.settled();
  await stream.feed([elsewhere]);
  await stream.settled();
  const letters = await stream.deadLetters();
  assert.deepEqual(letters.map(({ reason, series, input }) => [reason, series, input.partition]).sort(), [
    ['group-split', 'a', 1],
    ['group-split', 'a', 1],
    ['group-split', 'b', 0],
  ]);
  assert.ok(letters.some(({ detail }) => detail.includes('lives on partition 0; this member arrived on partition 1')));
  await worker.stop();
});

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
    assert.deepEqual(
      scores.map((score) => [stepOf(score), score.series, score.position]),
      Array.from({ length: 30 }, (_, step) => {
        const order = step % 10 === 9 ? ['a', 'c', 'b'] : MEMBERS;
        return order.map((member) => [step, member, step]);
      }).flat(),
    );
    assert.ok(scores.every(({ restarted }) => !restarted));
    await last.stop();
  });
}
