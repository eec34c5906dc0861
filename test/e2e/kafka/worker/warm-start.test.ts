import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScoreRecord } from '../../../../src/records/score-record.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { detectorsFile, type KafkaStream, kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { QUICK_DETECTOR } from '../../../fixture/stream/scored-stream.ts';
import { observationRecord, START_MS, STEP_MS } from '../../../fixture/stream/stream-run.ts';

const PARTITIONS = 3;
const SERIES = ['a', 'b', 'c', 'd'];
const BEGIN = 90;
const END = 130;
const FILLED = 'series begin with a history';

const folder = freshFolder();

const valueAt = (series: string, step: number) => Math.sin(step / 4) * 10 + ((step * 7 + series.charCodeAt(0)) % 5);

/** Kafka's own clients choose the partitions. */
function steps(from: number, to: number) {
  return Array.from({ length: to - from }, (_, i) =>
    SERIES.map((series) => observationRecord(series, from + i, valueAt(series, from + i))),
  ).flat();
}

async function csvFile(name: string, rows: readonly string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, ['series,timestamp,value', ...rows].join('\n'));
  return path;
}

function rows(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) =>
    SERIES.map((series) => `${series},${START_MS + (from + i) * STEP_MS},${valueAt(series, from + i)}`),
  ).flat();
}

/** What the scores say, without their place in the input. */
function said(scores: readonly ScoreRecord[]) {
  return scores
    .map(({ input, ...score }) => ({ ...score, partition: input.partition }))
    .sort((a, b) => a.timestampMs - b.timestampMs || (a.series < b.series ? -1 : 1));
}

async function scoredAll(): Promise<ScoreRecord[]> {
  const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
  await stream.feed(steps(0, END));
  const worker = await stream.startWorker();
  await stream.settled();
  await worker.stop();
  return stream.scores();
}

/** Worker after worker with the same flag; the first ones are killed. Returns what they logged of the history. */
async function scoreWith(stream: KafkaStream, flags: readonly string[]) {
  const file = detectorsFile(stream.topics, [QUICK_DETECTOR]);
  const logged: Record<string, unknown>[] = [];
  const early = await stream.startWorker({}, file, flags);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await early.kill();
  for (const [from, to] of [
    [BEGIN, BEGIN + 20],
    [BEGIN + 20, END],
  ]) {
    const worker = await stream.startWorker({}, file, flags);
    await stream.feed(steps(from, to));
    await stream.scored(SERIES.length * (to - BEGIN));
    logged.push(...worker.logged(FILLED));
    await worker.kill();
  }
  return [...early.logged(FILLED), ...logged];
}

kafkaTest('a worker that begins with a history, of a file or a topic, scores as one that has scored it', async () => {
  const expected = said(await scoredAll()).filter(({ timestampMs }) => timestampMs >= START_MS + BEGIN * STEP_MS);
  assert.ok(expected.every(({ state }) => state === 'scored'));
  const path = await csvFile('history.csv', rows(0, BEGIN));
  const past = await kafkaStream(PARTITIONS, []);
  await past.feed(steps(0, BEGIN));
  for (const name of [path, `topic:${past.topics.observations}`]) {
    const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
    const logged = await scoreWith(stream, ['--warm-start', name]);
    assert.deepEqual(said(await stream.scores()), expected);
    assert.deepEqual(await stream.deadLetters(), []);
    const filled = logged.reduce((sum, { units }) => sum + (units as number), 0);
    // The log of one that is killed as it begins may miss some.
    assert.ok(filled <= SERIES.length, 'no series is filled twice');
  }
});

kafkaTest('what the input has itself is left to it; a bad row stops the start, with line and field', async () => {
  const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
  await stream.feed(steps(BEGIN, END));
  const file = detectorsFile(stream.topics, [QUICK_DETECTOR]);
  const bad = await csvFile('bad.csv', [...rows(0, 1), `a,${START_MS + STEP_MS},much`, 'b,someday,3']);
  const refused = await stream.startWorker({}, file, ['--warm-start', bad]);
  assert.equal((await refused.ended).code, 2);
  assert.match(refused.said(), /line 6: the value is "much", not a decimal number\n +line 7: the time is "someday"/);

  const path = await csvFile('longer.csv', rows(0, END - 5));
  const worker = await stream.startWorker({}, file, ['--warm-start', path]);
  await stream.scored(SERIES.length * (END - BEGIN));
  const left = worker.logged(FILLED).reduce((sum, { leftToInput }) => sum + (leftToInput as number), 0);
  assert.equal(left, SERIES.length * (END - 5 - BEGIN));
  await worker.stop();
  const scores = await stream.scores();
  assert.equal(scores.length, SERIES.length * (END - BEGIN));
  assert.ok(scores.every(({ state }) => state === 'scored'));
  assert.deepEqual(await stream.deadLetters(), []);
});
