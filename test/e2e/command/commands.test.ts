import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectRegistry } from '../../../src/codecs/formats/registry.ts';
import { createScoreEncoder } from '../../../src/codecs/score-encoder.ts';
import type { Topics } from '../../../src/config/config.ts';
import { cacheFolder } from '../../../src/config/process-environment.ts';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { runCommand, startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { committedRecords, freshTopics, kafkaConnection, kafkaTest, ownKafka } from '../../fixture/kafka/kafka.ts';
import { startSchemaRegistry } from '../../fixture/kafka/schema-registry.ts';
import { scoreRecord } from '../../fixture/stream/score-record.ts';

const broker = ownKafka();

const folder = freshFolder();

const ROWS = 700;
const SPIKE = 650;
const START_MS = Date.UTC(2014, 1, 14, 14, 30);

/** A day's wave with noise at five minutes, as the files of the Numenta benchmark are written. */
const rows = Array.from({ length: ROWS }, (_, i) => {
  const time = new Date(START_MS + i * 300_000).toISOString().slice(0, 19).replace('T', ' ');
  const value = 50 + 20 * Math.sin(i / 45) + ((i * 7919) % 17) / 8 + (i === SPIKE ? 80 : 0);
  return `${time},${value}`;
});

/** A detectors file for these topics; returns its path. */
async function detectorsFile(topics: Topics): Promise<string> {
  const path = join(folder, `${topics.observations}.yaml`);
  await writeFile(
    path,
    `topics: {observations: ${topics.observations}, scores: ${topics.scores}, events: ${topics.events}, changelog: ${topics.changelog}, dead_letters: ${topics.deadLetters}}
input: {series: tags.id, time: at, time_unit: s, value: value}
detectors:
  - {name: cpu, series: 'cpu*', freq: 5min, h: 8, detection_size: 16, level: 99.9}
`,
  );
  return path;
}

async function environment(topics: Topics) {
  const { brokers } = await broker();
  return {
    KAFKA_BROKERS: brokers.join(','),
    KAFKA_GROUP_ID: topics.observations,
    DETECTORS: await detectorsFile(topics),
    OPS_PORT: '0',
    INFERENCE_THREADS: '1',
  };
}

const COMPARED = ['value', 'forecast', 'lo', 'hi', 'anomalyScore', 'grade', 'severity'] as const;

kafkaTest('what is fed is scored by the worker and shown by watch, and backtest finds the same numbers', async () => {
  const env = await environment(await freshTopics(2));
  const file = join(folder, 'cpu-1.csv');
  await writeFile(file, ['timestamp,value', ...rows, '2014-02-17 08:00:00,', ''].join('\n'));

  const fed = await runCommand(['feed', file], env);
  assert.equal(fed.exitCode, 1, 'a row was refused');
  assert.match(
    fed.err.join('\n'),
    /^700 observations of 1 series, 2014-02-14 14:30:00 to 2014-02-17 00:45:00, written to/m,
  );
  assert.match(fed.err.join('\n'), /^1 row was refused:\n {2}line 702: the record has no value$/m);

  const worker = startCommand(['worker'], env);
  const watch = startCommand(['watch', '--json', '--from-beginning'], env);
  await watch.until(() => watch.out.length === ROWS);
  for (const command of [watch, worker]) command.interrupt();
  assert.deepEqual(await Promise.all([watch.exitCode, worker.exitCode]), [0, 0]);
  const streamed = watch.out.map((line) => JSON.parse(line) as ScoreRecord);

  const out = join(folder, 'scores.csv');
  const eventsOut = join(folder, 'events.jsonl');
  const tested = await runCommand(['backtest', file, '--out', out, '--events-out', eventsOut], env);
  assert.equal(tested.exitCode, 1, 'the same row was refused');
  assert.match(
    tested.err.join('\n'),
    /^cpu-1: 700 observations, \d+ scored, \d+ anomalies, \d+ events?; worst: 2014-02-16 20:40:00 /m,
  );
  const [header, ...scores] = (await readFile(out, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  assert.equal(scores.length, ROWS);
  for (const [i, fields] of scores.entries()) {
    const score = Object.fromEntries(header!.map((name, at) => [name, fields[at]]));
    const expected = streamed[i];
    assert.equal(score.timestamp, new Date(expected.timestampMs).toISOString());
    assert.deepEqual([score.state, score.anomaly], [expected.state, String(expected.anomaly)]);
    for (const name of COMPARED) {
      const [got, wanted] = [score[name] === '' ? null : Number(score[name]), expected[name]];
      const near = got === wanted || Math.abs(got! - wanted!) <= 1e-6 * Math.max(1, Math.abs(wanted!));
      assert.ok(near, `${name} at ${i}: ${got}, in the stream ${wanted}`);
    }
  }
  assert.equal(streamed[SPIKE].anomaly, true);
  assert.equal(streamed[SPIKE].state, 'scored');

  const eventOf = (line: string) => {
    const { type, kind, startedAtMs, endedAtMs, alarms }: AnomalyEvent = JSON.parse(line);
    return { type, kind, startedAtMs, endedAtMs, alarms };
  };
  const revisions = (await readFile(eventsOut, 'utf8')).trimEnd().split('\n').map(eventOf);
  assert.ok(revisions.some(({ startedAtMs }) => startedAtMs === streamed[SPIKE].timestampMs));
  assert.match(tested.err.join('\n'), /^ {2}2014-02-16 20:40:00 {2}closed {3}cpu-1 .* was expected/m);
  const watchEvents = startCommand(['watch', '--events', '--json', '--from-beginning'], env);
  await watchEvents.until(() => watchEvents.out.length === revisions.length);
  watchEvents.interrupt();
  assert.equal(await watchEvents.exitCode, 0);
  assert.deepEqual(watchEvents.out.map(eventOf), revisions);
});

kafkaTest('feed and backtest end with the step that does not fit their detector', async () => {
  const topics = await freshTopics(1);
  const env = await environment(topics);
  await writeFile(env.DETECTORS, (await readFile(env.DETECTORS, 'utf8')).replace('5min', '30min'));
  const file = join(folder, 'cpu-2.csv');
  await writeFile(file, ['timestamp,value', ...rows, ''].join('\n'));
  const fed = await runCommand(['feed', file], env);
  const diagnostic = 'detector cpu: series arrive every 5min, freq is 30min: ';
  const remedy = 'set freq: 5min';
  assert.equal(fed.err.at(-1), `${diagnostic}700 observations; ${remedy}`);
  const again = await runCommand(['feed', file], env);
  const known = `are not newer than what ${topics.observations} already has of their series`;
  assert.ok(again.err.includes(`700 of 700 observations ${known}: workers drop duplicates and late ones`));
  assert.ok(fed.err.every((line) => !line.includes('already has')));
  const tested = await runCommand(['backtest', file, '--out', join(folder, 'scores-2.csv')], env);
  assert.match(
    tested.err.at(-1) ?? '',
    new RegExp(`^${diagnostic}5\\d\\d of 700 observations dropped as duplicates; ${remedy}, or set aggregate$`),
  );
});

kafkaTest('topics and feed warn of values older than the topic of scores keeps', async () => {
  const names = ['observations', 'scores', 'events', 'changelog', 'deadLetters'];
  const topics = Object.fromEntries(names.map((name) => [name, `${name}-${randomUUID()}`])) as unknown as Topics;
  const env = await environment(topics);
  const warning = new RegExp(`^Kafka deletes the scores of values older than the 7 days that ${topics.scores} keeps, `);
  const made = await runCommand(['topics', '--partitions', '1', '--retention-days', '7'], env);
  assert.match(made.err.join('\n'), warning);
  const file = join(folder, 'cpu-3.csv');
  await writeFile(file, ['timestamp,value', ...rows.slice(0, 9), ''].join('\n'));
  const fed = await runCommand(['feed', file], env);
  assert.equal(fed.err.filter((line) => warning.test(line)).length, 1);
  const settings = await readFile(env.DETECTORS, 'utf8');
  await writeFile(env.DETECTORS, `${settings}output: { timestamps: processing-time }\n`);
  for (const command of [['topics'], ['feed', file]]) {
    assert.doesNotMatch((await runCommand(command, env)).err.join('\n'), /Kafka deletes/);
  }
});

kafkaTest('topics names a number of partitions that it cannot give', async () => {
  const env = await environment(await freshTopics(2));
  const more = await runCommand(['topics', '--partitions', '8'], env);
  assert.equal(more.exitCode, 0);
  assert.match(more.err.join('\n'), /--partitions 8 was given, but the topics are there with 2, and stay so/);
  const missing = await environment({ ...(await freshTopics(1)), observations: 'nowhere' });
  const copies = await runCommand(['topics', '--replication-factor', '3'], missing);
  assert.equal(copies.exitCode, 2);
  assert.match(copies.err.join('\n'), /at most as many copies as there are brokers/);
  const login = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'me', KAFKA_SASL_PASSWORD: 'secret' };
  const refused = await runCommand(['topics'], { ...env, ...login });
  assert.equal(refused.exitCode, 1);
  assert.match(refused.err.join('\n'), /If the brokers accept no login there, unset KAFKA_SASL_MECHANISM/);
});

kafkaTest('a watch shows alarms, reports once that the broker is away, and continues when it is back', async () => {
  const topics = await freshTopics(1);
  const kafka = await broker();
  const show = async (series: string, changes: Partial<ScoreRecord> = {}) => {
    const value = Buffer.from(JSON.stringify(scoreRecord({ series, ...changes })));
    await produceRecords(await kafkaConnection(), topics.scores, [{ partition: 0, key: null, value }]);
  };
  await show('shown/before', { anomaly: false, alarm: false });
  await show('shown/flagged');
  const watch = startCommand(['watch', '--from-beginning', '--series', 'shown/*'], await environment(topics));
  await watch.until(() => watch.out.some((line) => line.includes('shown/flagged')));
  await kafka.kill();
  await watch.until(() => watch.err.some((line) => line.includes('the watch waits for Kafka')));
  await kafka.restart();
  await watch.until(() => watch.err.includes('Kafka is available again.'));
  await show('other');
  await show('shown/flagged later');
  await watch.until(() => watch.out.some((line) => line.includes('shown/flagged later')));
  watch.interrupt();
  assert.equal(await watch.exitCode, 0);
  assert.equal(watch.err.filter((line) => line.includes('the watch waits for Kafka')).length, 1);
  const actual = watch.out.slice(1).map((line) => [line[0], /shown\/[a-z ]*[a-z]/.exec(line)?.[0]]);
  assert.deepEqual(actual, [
    ['!', 'shown/flagged'],
    ['!', 'shown/flagged later'],
  ]);
});

kafkaTest('scores in Avro are shown with the schema of the registry', async () => {
  const topics = await freshTopics(1);
  const registry = await startSchemaRegistry({ cacheDir: cacheFolder(), logDir: folder });
  const connected = await connectRegistry({ url: registry.url });
  try {
    const encode = await createScoreEncoder('avro', { topic: topics.scores, registrar: connected });
    const scores = [scoreRecord(), scoreRecord({ series: 'b', forecast: null, anomaly: false })];
    const records = scores.map((score) => ({ partition: 0, key: null, value: encode(score) }));
    await produceRecords(await kafkaConnection(), topics.scores, records);
    const { DETECTORS, ...env } = await environment(topics);
    await appendFile(DETECTORS, 'output: {format: avro}\n');
    const watch = startCommand(['watch', '--json', '--from-beginning', '--detectors', DETECTORS], {
      ...env,
      SCHEMA_REGISTRY_URL: registry.url,
    });
    await watch.until(() => watch.out.length === scores.length);
    watch.interrupt();
    assert.equal(await watch.exitCode, 0);
    const watched = watch.out.map((line) => JSON.parse(line));
    assert.deepEqual(watched, scores);
  } finally {
    await connected.close();
    await registry.kill();
  }
});

kafkaTest('a group is fed with its id as key, from standard input, at the rate that was asked for', async () => {
  const topics = await freshTopics(2);
  const { DETECTORS: _, ...env } = await environment(topics);
  const file = join(folder, 'groups.yaml');
  await writeFile(
    file,
    `topics: {observations: ${topics.observations}}
detectors:
  - {name: shop, series: '*', freq: min, h: 4, detection_size: 4, threshold_method: multivariate, group: tags.shop}
`,
  );
  const csv = 'unique_id,ds,y\na,1392388200,1\nb,1392388200,2\na,1392388260,3\n';
  const feed = ['feed', '-', '--group', 'paris', '--rate', '20', '--detectors', file];
  const { exitCode, err } = await runCommand(feed, env, csv);
  assert.equal(exitCode, 0);
  assert.match(err.join('\n'), /read as s \(--time-unit\)\n3 observations of 2 series/);
  const written = await Promise.all([0, 1].map((partition) => committedRecords(topics.observations, partition)));
  const records = written.flat().map(({ key, value }) => [String(key), JSON.parse(String(value))]);
  const tags = { shop: 'paris' };
  assert.deepEqual(records, [
    ['paris', { series: 'a', timestamp: 1_392_388_200_000, value: 1, tags }],
    ['paris', { series: 'b', timestamp: 1_392_388_200_000, value: 2, tags }],
    ['paris', { series: 'a', timestamp: 1_392_388_260_000, value: 3, tags }],
  ]);
});

test('wrong use is reported in terms of the command line', async () => {
  const file = join(folder, 'short.csv');
  await writeFile(file, ['timestamp,value', ...rows.slice(0, 3)].join('\n'));
  const { exitCode, err } = await runCommand(['backtest', file, '--detection-size', '36', '--h', '24']);
  assert.equal(exitCode, 2);
  assert.match(err.join('\n'), /--detection-size must be a multiple of step_size \(24\), got 36/);
  const missing = await runCommand(['backtest', join(folder, 'none.csv')]);
  assert.equal(missing.exitCode, 2);
  assert.match(missing.err.join('\n'), /^Cannot read .*none\.csv/);
});
