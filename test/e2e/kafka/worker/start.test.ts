import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { publishDetectors } from '../../../../src/app/processes/detectors-topic.ts';
import { asAdmin } from '../../../../src/kafka/admin/admin-client.ts';
import type { ScoreRecord } from '../../../../src/records/score-record.ts';
import { startCommand } from '../../../fixture/command.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { listening } from '../../../fixture/http/listening.ts';
import { kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { detectorsFile, type KafkaStream, kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { startWorkerProcess } from '../../../fixture/kafka/worker-process.ts';
import { published, QUICK_DETECTOR, sines, waves } from '../../../fixture/stream/scored-stream.ts';
import { observationRecord, START_MS, STEP_MS } from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';

for (const [waits, wait] of [
  ['at once where it is not to wait', '0'],
  ['after its wait', '1500'],
]) {
  kafkaTest(`a worker that finds no broker names where it looked, and ends with 1 ${waits}`, async () => {
    const stream = await kafkaStream(1, [QUICK_DETECTOR]);
    const worker = await stream.startWorker({ KAFKA_BROKERS: '127.0.0.1:1', START_WAIT_MS: wait });
    assert.deepEqual(await worker.ended, { code: 1, signal: null });
    assert.match(worker.said(), /^No Kafka could be reached at 127\.0\.0\.1:1\. .*ECONNREFUSED/m);
    assert.equal(worker.logged('no broker reachable, waiting').length, wait === '0' ? 0 : 1);
  });
}

kafkaTest('a worker that is stopped while it waits for its brokers ends with 0', async () => {
  const stream = await kafkaStream(1, [QUICK_DETECTOR]);
  const worker = await stream.startWorker({ KAFKA_BROKERS: '127.0.0.1:1' });
  await until('it is not ready', async () => (await worker.readiness())?.status === 503);
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
});

kafkaTest("a worker ends if its operators' port is taken: probes would reach another process", async () => {
  const stream = await kafkaStream(1, [QUICK_DETECTOR]);
  const port = await listening(createServer());
  const worker = await stream.startWorker({ OPS_PORT: String(port) });
  assert.deepEqual(await worker.ended, { code: 2, signal: null });
  assert.match(worker.said(), new RegExp(`127.0.0.1:${port} is taken by another program; set OPS_HOST and OPS_PORT`));
});

kafkaTest('a worker whose topics are missing names them, and ends with 1', async () => {
  const stream = await kafkaStream(1, [QUICK_DETECTOR]);
  const file = `topics: { scores: nobody-made-this }\ndetectors: [${QUICK_DETECTOR}]`;
  const worker = await stream.startWorker({}, file);
  assert.deepEqual(await worker.ended, { code: 1, signal: null });
  assert.match(
    worker.said(),
    /Topics are missing: .*nobody-made-this.* Create them with the command "topics".* hides topics/,
  );
});

kafkaTest('a worker that reads another topic than its group ends with 2, and takes no partition from it', async () => {
  const [stream, other] = [await kafkaStream(2, [QUICK_DETECTOR]), await kafkaStream(2, [QUICK_DETECTOR])];
  const worker = await stream.startWorker();
  await until('it is ready', async () => (await worker.readiness())?.status === 200);
  const stranger = await other.startWorker({ KAFKA_GROUP_ID: stream.groupId });
  assert.deepEqual(await stranger.ended, { code: 2, signal: null });
  const { observations: topic } = stream.topics;
  const reason = `Group ${stream.groupId} reads topic ${topic}, and this worker topic ${other.topics.observations}`;
  assert.ok(stranger.said().includes(`${reason}: give it a KAFKA_GROUP_ID of its own`), stranger.said());
  await stream.feed([0, 1].map((partition) => ({ partition, ...observationRecord(`series-${partition}`, 0, 1) })));
  await stream.settled();
  assert.equal((await stream.scores()).length, 2);
  await worker.stop();
});

const DETECTORS = `source: { prometheus: "http://127.0.0.1:1", query: up, step: 1min }
detectors: [{ name: all, series: "*", freq: min, h: 4, detection_size: 4 }]
`;
const ROUTES = `receivers: [{ name: mine, webhook: { url: "https://example.com" } }]
routes: [{ name: all, receivers: mine }]
`;

for (const name of ['receive', 'poll', 'remote-write', 'alerts', 'incidents']) {
  kafkaTest(`${name} that starts before its brokers waits for them, not ready, instead of ending`, async (t) => {
    const folder = freshFolder();
    await writeFile(join(folder, 'detectors.yaml'), DETECTORS);
    await writeFile(join(folder, 'routes.yaml'), ROUTES);
    const command = startCommand([name], {
      KAFKA_BROKERS: '127.0.0.1:1',
      OPS_PORT: '0',
      HTTP_PORT: '0',
      GRPC_PORT: '0',
      DATA_DIR: folder,
      DETECTORS: join(folder, 'detectors.yaml'),
      REMOTE_WRITE_URL: 'http://127.0.0.1:1',
      ...(name === 'alerts' && { ROUTES: join(folder, 'routes.yaml') }),
    });
    t.after(() => command.kill());
    const { url } = await command.logged('the operators port is open');
    await until('it says why it is not ready', async () => {
      const answer = await fetch(`${url}/readyz`);
      return answer.status === 503 && (await answer.text()).includes('No Kafka could be reached at 127.0.0.1:1');
    });
    assert.match(await (await fetch(`${url}/metrics`)).text(), /^tidewatch_broker_connected 0$/m);
    command.interrupt();
    assert.equal(await command.exitCode, 0);
  });
}

test('a worker that is stopped while it waits for a broker that does not answer ends in time', async () => {
  let asked = false;
  const unresponsive = createServer(() => {
    asked = true;
  });
  const port = await listening(unresponsive);
  const worker = await startWorkerProcess({
    detectors: `detectors: [${QUICK_DETECTOR}]\n`,
    env: { KAFKA_BROKERS: `127.0.0.1:${port}`, SHUTDOWN_MS_MAX: '1000' },
  });
  await until('the broker was asked', async () => asked);
  const ended = worker.stop();
  // Well before the time-out of the request, 20 s, which the process must not wait for.
  const end = await Promise.race([ended, sleep(15_000, 'still there', { ref: false })]);
  await worker.kill();
  assert.deepEqual(end, { code: 0, signal: null });
});

const CHANGED_SERIES = ['kept-1', 'changed-1', 'changed-2'];

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
  await stream.feed(sines(CHANGED_SERIES, 0, 30));
  await stream.scored(30 * CHANGED_SERIES.length);
  await worker.rewriteDetectors(`${file(16)}  - { name: nothing }\n`);
  await outcome('refused', 1);
  await worker.rewriteDetectors(file(16));
  await outcome('applied', 1);
  await stream.feed(sines(CHANGED_SERIES, 30, 50));
  await stream.scored(50 * CHANGED_SERIES.length);
  const saved = { version: 3, savedAtMs: 0, savedBy: 'test', comment: null, text: file(24) };
  await publishDetectors({ kafka, topic, like: stream.topics.changelog }, saved);
  await outcome('applied', 2);
  await stream.feed(sines(CHANGED_SERIES, 50, 60));
  await stream.scored(60 * CHANGED_SERIES.length);
  await worker.stop();

  const bySeries = Map.groupBy(await stream.scores(), ({ series }) => series);
  const restarted = (series: string) => bySeries.get(series)!.flatMap((score, i) => (score.restarted ? [i] : []));
  assert.deepEqual(CHANGED_SERIES.map(restarted), [[], [30, 50], [30, 50]]);
  for (const series of CHANGED_SERIES) {
    const positions = bySeries.get(series)!.map(({ position }) => position);
    assert.deepEqual(positions, [...Array(60).keys()]);
  }
});

const PARTITIONS = 3;
const BEGINNING = ['a', 'b', 'c', 'd'];
const BEGIN = 90;
const END = 130;
const FILLED = 'series start with a history';

const folder = freshFolder();

const valueAt = (series: string, step: number) => Math.sin(step / 4) * 10 + ((step * 7 + series.charCodeAt(0)) % 5);

/** Kafka's own clients choose the partitions. */
function steps(from: number, to: number) {
  return Array.from({ length: to - from }, (_, i) =>
    BEGINNING.map((series) => observationRecord(series, from + i, valueAt(series, from + i))),
  ).flat();
}

async function csvFile(name: string, rows: readonly string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, ['series,timestamp,value', ...rows].join('\n'));
  return path;
}

function rows(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) =>
    BEGINNING.map((series) => `${series},${START_MS + (from + i) * STEP_MS},${valueAt(series, from + i)}`),
  ).flat();
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
  // A member that dies while it joins is waited for until its session ends.
  await until('it begins to fill its series', () => early.logged('assigned').length > 0);
  await early.kill();
  for (const [from, to] of [
    [BEGIN, BEGIN + 20],
    [BEGIN + 20, END],
  ]) {
    const worker = await stream.startWorker({}, file, flags);
    await stream.feed(steps(from, to));
    await stream.scored(BEGINNING.length * (to - BEGIN));
    logged.push(...worker.logged(FILLED));
    await worker.kill();
  }
  return [...early.logged(FILLED), ...logged];
}

kafkaTest('a worker that begins with a history, of a file or a topic, scores as one that has scored it', async () => {
  const expected = published(await scoredAll()).filter(({ timestampMs }) => timestampMs >= START_MS + BEGIN * STEP_MS);
  assert.ok(expected.every(({ state }) => state === 'scored'));
  const path = await csvFile('history.csv', rows(0, BEGIN));
  const past = await kafkaStream(PARTITIONS, []);
  await past.feed(steps(0, BEGIN));
  for (const name of [path, `topic:${past.topics.observations}`]) {
    const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
    const logged = await scoreWith(stream, ['--warm-start', name]);
    assert.deepEqual(published(await stream.scores()), expected);
    assert.deepEqual(await stream.deadLetters(), []);
    const filled = logged.reduce((sum, { units }) => sum + (units as number), 0);
    // The log of one that is killed as it begins may miss some.
    assert.ok(filled <= BEGINNING.length, 'no series is filled twice');
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
  await stream.scored(BEGINNING.length * (END - BEGIN));
  const left = worker.logged(FILLED).reduce((sum, { leftToInput }) => sum + (leftToInput as number), 0);
  assert.equal(left, BEGINNING.length * (END - 5 - BEGIN));
  await worker.stop();
  const scores = await stream.scores();
  assert.equal(scores.length, BEGINNING.length * (END - BEGIN));
  assert.ok(scores.every(({ state }) => state === 'scored'));
  assert.deepEqual(await stream.deadLetters(), []);
});
