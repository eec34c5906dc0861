import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConsumerGroup } from '../../../src/kafka/admin/consumer-group.ts';
import { countPartitions, raisePartitions } from '../../../src/kafka/admin/raise-partitions.ts';
import type { ProducerRecord } from '../../../src/kafka/produce/bulk-producer.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { runCommand, startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { type KafkaStream, kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import type { WorkerProcess } from '../../fixture/kafka/worker-process.ts';
import { observationRecord, START_MS, STEP_MS } from '../../fixture/stream/stream-run.ts';
import { until } from '../../fixture/until.ts';

const folder = freshFolder();

const DETECTORS = [
  '{ name: racks, series: "rack-*", freq: min, h: 4, detection_size: 4, context: 32, threshold_method: multivariate, group: group }',
  '{ name: every, series: "*", freq: min, h: 4, detection_size: 4, context: 32 }',
];
const SERIES = ['web-1', 'web-2', 'db', 'cache', 'queue', 'disk'];
const RACKS = ['a', 'b', 'c'];
const STEPS = 60;

function valueAt(series: string, step: number): number {
  const which = series.charCodeAt(series.length - 1);
  return Math.sin(step / (2 + (which % 5))) + ((step * 7_919 + which * 104_729) % 101) / 100 + (step === 57 ? 30 : 0);
}

/** The second member of each rack is a step behind, so that a time step always waits. */
function recordsOf(from: number, to: number): ProducerRecord[] {
  const steps = Array.from({ length: to - from }, (_, i) => from + i);
  return steps.flatMap((step) => [
    ...SERIES.map((series) => observationRecord(series, step, valueAt(series, step))),
    ...RACKS.flatMap((rack) => {
      const [first, second] = [`rack-${rack}1`, `rack-${rack}2`];
      return [
        observationRecord(first, step, valueAt(first, step), rack),
        ...(step > 0 ? [observationRecord(second, step - 1, valueAt(second, step - 1), rack)] : []),
      ];
    }),
  ]);
}

/** Stops a worker. On a busy machine one may end before it has left its group: its session ends later. */
async function stop(stream: KafkaStream, worker: WorkerProcess): Promise<void> {
  await worker.stop();
  const [connection, { groupId, topics }] = [await kafkaConnection(), stream];
  await until('the group is empty', async () => {
    return (await readConsumerGroup(connection, { groupId, topic: topics.observations })).members === 0;
  });
}

/** Scores what is there in a worker of its own. */
async function score(stream: KafkaStream, records: readonly ProducerRecord[]): Promise<void> {
  await stream.feed(records);
  const worker = await stream.startWorker();
  await stream.settled();
  await stop(stream, worker);
}

async function commandOf(stream: KafkaStream) {
  const { config } = await kafkaConnection();
  const detectors = join(folder, `${stream.groupId}.yaml`);
  await writeFile(detectors, stream.detectors);
  const env = { KAFKA_BROKERS: config.brokers.join(), KAFKA_GROUP_ID: stream.groupId, DETECTORS: detectors };
  return {
    run: (...args: string[]) => runCommand(['state', ...args], env),
    start: (...args: string[]) => startCommand(['state', ...args], env),
  };
}

/** By series and time, without where the input record is. */
function judged(scores: readonly ScoreRecord[]) {
  const entries = scores.map(({ input: _, ...score }) => [`${score.series} ${score.timestampMs}`, score] as const);
  return new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

kafkaTest('a worker finds more partitions than its state has, and reports how to move the state', async () => {
  const stream = await kafkaStream(1, DETECTORS);
  const { topics } = stream;
  await score(stream, recordsOf(0, 3));
  await raisePartitions(await kafkaConnection(), [topics.observations], 3);
  const refused = await stream.startWorker();
  assert.equal((await refused.ended).code, 1);
  assert.match(refused.said(), /Partition counts differ: .*state repartition --partitions 3/);
  await raisePartitions(await kafkaConnection(), [topics.scores, topics.events, topics.changelog], 3);
  const withTopics = await stream.startWorker();
  assert.equal((await withTopics.ended).code, 1);
  assert.match(withTopics.said(), /had 1 partitions .* has 3 now.*state repartition --partitions 3/);
  const { run } = await commandOf(stream);
  assert.equal((await run('repartition', '--partitions', '3')).exitCode, 0);
  await score(stream, recordsOf(3, 4));
  const next = (await stream.scores()).filter(({ series, position }) => SERIES.includes(series) && position === 3);
  assert.deepEqual(next.map(({ series }) => series).sort(), [...SERIES].sort());
});

kafkaTest('state that moved to more partitions scores bit for bit as without, also after a kill', async () => {
  const [plain, moved] = [await kafkaStream(2, DETECTORS), await kafkaStream(2, DETECTORS)];
  await score(plain, recordsOf(0, STEPS));
  await score(moved, recordsOf(0, 41));
  const command = await commandOf(moved);

  const connection = await kafkaConnection();
  const counted = async () => countPartitions(connection, [moved.topics.changelog, moved.topics.observations]);
  const killed = command.start('repartition', '--partitions', '5');
  await until('the changelog has got partitions', async () => (await counted()).get(moved.topics.changelog) === 5);
  killed.kill();
  await killed.exitCode;
  // The input has got partitions at the end, which may have come first.
  if ((await counted()).get(moved.topics.observations) !== 5) {
    const refused = await moved.startWorker();
    assert.equal((await refused.ended).code, 1, 'a worker starts in the middle of it');
  }

  const again = await command.run('repartition', '--partitions', '5');
  assert.deepEqual([again.exitCode, again.err], [0, []]);
  assert.deepEqual([...(await counted()).values()], [5, 5]);
  const twice = await command.run('repartition', '--partitions', '5');
  assert.deepEqual([twice.exitCode, twice.out.length], [0, 1], 'nothing is left to move');

  await score(moved, recordsOf(41, STEPS));
  const scores = await moved.scores();
  assert.equal(scores.length, new Set(scores.map(({ series, timestampMs }) => `${series} ${timestampMs}`)).size);
  assert.deepEqual(judged(scores), judged(await plain.scores()));
  const late = scores.filter(({ timestampMs }) => timestampMs > START_MS + 45 * STEP_MS);
  assert.ok(new Set(late.map(({ input }) => input.partition)).size > 2, 'series live in new partitions');
  assert.ok(late.some(({ state }) => state === 'scored'));
});

kafkaTest('records that are not scored yet stay with their state: it does not move without them', async () => {
  const stream = await kafkaStream(1, DETECTORS);
  await score(stream, recordsOf(0, 3));
  await stream.feed(recordsOf(3, 4));
  const { run } = await commandOf(stream);
  const refused = await run('repartition', '--partitions', '4');
  assert.equal(refused.exitCode, 1);
  assert.match(refused.err.join(), /records of series that would move are not scored yet/);
  const fewer = await run('repartition', '--partitions', '0');
  assert.equal(fewer.exitCode, 2);
});

kafkaTest('inspect and export show where a worker would resume, reset starts over; not while one runs', async () => {
  const stream = await kafkaStream(2, DETECTORS);
  await score(stream, recordsOf(0, 30));
  const { run } = await commandOf(stream);
  const newest = new Date(START_MS + 29 * STEP_MS).toISOString();

  const shown = await run('inspect', '--series', 'web-*');
  assert.equal(shown.exitCode, 0, shown.err.join('\n'));
  const lines = shown.out.filter((line) => line.startsWith('  ')).sort();
  assert.equal(lines.length, 2);
  for (const [i, line] of lines.entries()) {
    assert.match(line, new RegExp(`^  web-${i + 1} \\(every\\): position 30, \\d+ residuals, newest ${newest}$`));
  }
  const exported = await run('export', '--series', 'db');
  assert.equal(exported.exitCode, 0);
  const rows = exported.out.slice(1).map((line) => line.split(','));
  const actual = rows.map(([series, timestamp]) => [series, timestamp]);
  const expected = Array.from({ length: 30 }, (_, step) => ['db', new Date(START_MS + step * STEP_MS).toISOString()]);
  assert.deepEqual(actual, expected);
  for (const [step, [, , value]] of rows.entries()) assert.ok(Math.abs(Number(value) - valueAt('db', step)) < 1e-5);

  const worker = await stream.startWorker();
  await until('the worker is ready', async () => (await worker.readiness())?.status === 200);
  for (const action of [['inspect'], ['export'], ['reset', '--series', '*'], ['repartition', '--partitions', '4']]) {
    const refused = await run(...action);
    assert.deepEqual([refused.exitCode, refused.out], [1, []]);
    assert.match(refused.err.join(), /has members \(1\): stop the workers first/);
  }
  await stop(stream, worker);

  assert.deepEqual(await run('reset', '--series', 'web-1').then(({ exitCode, err }) => [exitCode, err]), [0, []]);
  await score(stream, recordsOf(30, 31));
  const positions = (await stream.scores())
    .filter(({ timestampMs, series }) => timestampMs === START_MS + 30 * STEP_MS && SERIES.includes(series))
    .map(({ series, position }) => [series, position])
    .sort();
  assert.deepEqual(
    positions,
    [...SERIES].sort().map((series) => [series, series === 'web-1' ? 0 : 30]),
  );

  const partition = (await stream.scores()).find(({ series }) => series === 'db')!.input.partition;
  const reset = await run('reset', '--partition', String(partition));
  assert.match(reset.out.join(), new RegExp(`^partition ${partition}: [1-9]\\d* series and groups start over$`));
  const left = await run('inspect', '--partition', String(partition));
  const listed = left.out.filter((line) => line.startsWith('  '));
  assert.deepEqual(listed, []);
});

/** What is asked of `state`, and what it says then. */
const WRONG_USE: Readonly<Record<string, RegExp>> = {
  inspekt: /^ACTION must be inspect, export, reset, repartition or adopt, got "inspekt"$/,
  'inspect --partitions 3': /^inspect takes no --partitions$/,
  'inspect --out x': /^inspect takes no --out$/,
  'inspect --serie x': /^--serie is not a known flag; did you mean --series\?$/m,
  reset: /^reset needs --series or --partition/,
  repartition: /^repartition needs --partitions$/,
  'repartition --partitions 3 --series x': /^repartition moves all state/,
  'repartition --partitions 0': /--partitions must be an integer from 1 to 10000, got "0"$/,
  inspect: /KAFKA_BROKERS must be .* got nothing\n.*DETECTORS must be .* got nothing$/,
};

for (const [asked, said] of Object.entries(WRONG_USE)) {
  test(`state ${asked} is wrong use, and nothing is touched`, async () => {
    const { exitCode, out, err } = await runCommand(['state', ...asked.split(' ')]);
    assert.deepEqual([exitCode, out], [2, []]);
    assert.match(err.join('\n'), said);
  });
}

kafkaTest('a state that is not there ends the command with what is missing, at once', async () => {
  const stream = await kafkaStream(2, DETECTORS);
  await score(stream, recordsOf(0, 1));
  const { run } = await commandOf(stream);
  const beyond = await run('inspect', '--partition', '2');
  assert.deepEqual([beyond.exitCode, beyond.out], [2, []]);
  assert.match(beyond.err.join(), /^--partition must be below 2, the partitions of .*, got 2$/);
  const unmatched = await run('reset', '--series', 'nobody-*');
  assert.equal(unmatched.exitCode, 1);
  assert.match(unmatched.err.join(), /^No series matches "nobody-\*"$/);
  const unwritable = await run('export', '--out', folder);
  assert.equal(unwritable.exitCode, 2);
  assert.match(unwritable.err.join(), /^Cannot write /);
  const { observations, scores, events, deadLetters } = stream.topics;
  const others = `observations: ${observations}, scores: ${scores}, events: ${events}, dead_letters: ${deadLetters}`;
  const detectors = join(folder, 'other.yaml');
  await writeFile(detectors, `topics: { ${others} }\ndetectors:\n  - ${DETECTORS[1]}\n`);
  const { config } = await kafkaConnection();
  const env = { KAFKA_BROKERS: config.brokers.join(), KAFKA_GROUP_ID: 'nobody', DETECTORS: detectors };
  for (const action of [['inspect'], ['repartition', '--partitions', '4']]) {
    const missing = await runCommand(['state', ...action], env);
    assert.deepEqual([missing.exitCode, missing.out], [1, []]);
    assert.match(missing.err.join(), /^Topics are missing: nobody-changelog\./);
  }
});
