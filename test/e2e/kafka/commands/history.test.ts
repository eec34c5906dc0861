import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { newestSaved } from '../../../../src/app/processes/detectors-topic.ts';
import { encodeDeadLetter } from '../../../../src/codecs/dead-letter-json.ts';
import { ensureSingleTopic } from '../../../../src/engine/topics/topic-admin.ts';
import { openBulkProducer, produceRecords } from '../../../../src/kafka/produce/bulk-producer.ts';
import { startHttpReceiver } from '../../../fixture/alerts/http-receiver.ts';
import { revisionsOf } from '../../../fixture/alerts/notification.ts';
import { runCommand, startCommand } from '../../../fixture/command.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { anomalyEvent } from '../../../fixture/history/kept-records.ts';
import { exampleVariables } from '../../../fixture/http/example-variables.ts';
import { type Served, serve, stop } from '../../../fixture/http/served.ts';
import { incident } from '../../../fixture/incidents/incident.ts';
import { freshTopics, kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { scoreRecord } from '../../../fixture/stream/score-record.ts';
import { until } from '../../../fixture/until.ts';

const KEY = 'a-key-of-the-tests-and-of-nobody-else';
const SERIES = 20;
const STEPS = 400;
const STEP_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 1);
const PARTITIONS = 3;
/** Between time steps: servers come and go meanwhile. */
const FEED_MS = 25;
const DETECTOR = { name: 'cpu', series: 'series *', freq: 'min', h: 4, detection_size: 4 };

/** One record of each series, at a time step. */
function scoresAt(step: number) {
  return Array.from({ length: SERIES }, (_, i) => {
    const series = `series ${i}`;
    const record = scoreRecord({ series, value: step * 1_000 + i, timestampMs: START_MS + step * STEP_MS });
    return { partition: i % PARTITIONS, key: Buffer.from(series), value: Buffer.from(JSON.stringify(record)) };
  });
}

kafkaTest('a server that is killed again and again keeps every score, event and dead letter exactly once', async () => {
  const connection = await kafkaConnection();
  const topics = await freshTopics(PARTITIONS);
  const DATA_DIR = freshFolder();
  const detectors = join(DATA_DIR, 'detectors.yaml');
  const { observations, scores, events, changelog, deadLetters } = topics;
  const outputs = { observations, scores, events, changelog, dead_letters: deadLetters };
  await writeFile(detectors, JSON.stringify({ topics: outputs, detectors: [DETECTOR] }));
  const env = {
    DATA_DIR,
    DETECTORS: detectors,
    DETECTORS_TOPIC: `${topics.observations}-detectors`,
    INCIDENTS_TOPIC: `${topics.observations}-incidents`,
    KAFKA_BROKERS: connection.config.brokers.join(','),
    TIDEWATCH_API_KEY: KEY,
    HTTP_PORT: '0',
    OPS_PORT: '0',
  };
  const producer = await openBulkProducer(connection, scores);
  let fed = 0;
  const feed = async (share: number) => {
    for (; fed < share * STEPS; fed++) {
      await producer.send(scoresAt(fed));
      await sleep(FEED_MS);
    }
  };
  const revisions = [0, 1, 2].map((revision) => anomalyEvent('e', { eventId: 'ab'.repeat(16), revision }));
  const records = revisions.map((event) => ({ partition: 0, key: null, value: Buffer.from(JSON.stringify(event)) }));
  await produceRecords(connection, events, records);
  const { eventId } = anomalyEvent('ab'.repeat(16));
  const named = [{ ...incident().events[0], eventId }];
  const incidents = [0, 1].map((revision) => {
    const record = incident({ incidentId: eventId, revision, events: revision === 0 ? named : [] });
    return { partition: 0, key: Buffer.from(eventId), value: Buffer.from(JSON.stringify(record)) };
  });
  // Old ones are dropped.
  const madeMs = Date.now();
  const letter = encodeDeadLetter({
    reason: 'late',
    detail: 'older than the newest',
    series: 'series 1',
    detector: 'cpu',
    input: { topic: observations, partition: 1, offset: 5, timestampMs: START_MS },
    key: Buffer.from('series 1'),
    value: Buffer.from('{"late":true}'),
    atMs: madeMs,
  });
  await produceRecords(connection, deadLetters, [{ partition: 0, key: null, value: letter }]);

  let served = await serve(env);
  // Each server has scores of its own to keep, however long it takes to start.
  for (const share of [0.3, 0.6, 1]) {
    const isOpen = async () => (await ask(served, '/v1/service')).history.problem === null;
    await until('the history is open', isOpen);
    const before = (await ask(served, '/v1/service')).history.scores;
    const feeding = feed(share);
    await until('some was kept', async () => (await ask(served, '/v1/service')).history.scores > before);
    if (before === 0) {
      // Nobody makes incidents yet: their topic may be missing.
      await until('operators see it', () => isKept(served));
      await ensureSingleTopic(connection, 'output', { topic: env.INCIDENTS_TOPIC, like: events });
      await produceRecords(connection, env.INCIDENTS_TOPIC, incidents);
    }
    served.command.kill();
    await served.command.exitCode;
    served = await serve(env);
    await feeding;
  }
  await producer.close();
  await until('everything is kept', async () => {
    const { scores: kept, partitions } = (await ask(served, '/v1/service')).history;
    return kept >= SERIES * STEPS && partitions.every(({ lag }: { lag: number }) => lag === 0);
  });
  const { history, dead_letters: letters } = await ask(served, '/v1/service');
  assert.deepEqual(
    [history.scores, history.series, history.events, history.problem],
    [SERIES * STEPS, SERIES, 1, null],
  );
  assert.deepEqual(letters, [{ reason: 'late', letters: 1, newest_at: madeMs }]);
  for (let i = 0; i < SERIES; i++) {
    const { value } = await ask(served, `/v1/series/${encodeURIComponent(`series ${i}`)}/scores?points=20000`);
    const expected = Array.from({ length: STEPS }, (_, step) => step * 1_000 + i);
    assert.deepEqual(value, expected);
  }
  const [event] = (await ask(served, '/v1/events')).events;
  assert.deepEqual([event.revision, event.incidentId], [2, eventId]);
  const found = await ask(served, `/v1/incidents/${eventId}`);
  assert.deepEqual([found.revision, found.events.length], [1, 1]);
  await runExamples(served);
  const text = JSON.stringify({
    topics: outputs,
    detectors: [DETECTOR, { ...DETECTOR, name: 'more', series: 'more *' }],
  });
  const saved = await fetch(`${served.url}/v1/detectors`, {
    method: 'PUT',
    headers: { ...HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify({ text, base_version: null }),
  });
  assert.equal(((await saved.json()) as { version: number }).version, 1);
  assert.deepEqual(await newestSaved(connection.config, env.DETECTORS_TOPIC), { version: 1, text });
  const { workers } = await ask(served, '/v1/service');
  assert.deepEqual([workers.members, workers.partitions[1].end_offset], [0, 1]);
  await stop(served);
});

/** Whether the metrics say that scores are kept. */
async function isKept({ ops }: Served): Promise<boolean> {
  const metrics = await (await fetch(`${ops}/metrics`)).text();
  return /^tidewatch_history_scores_total [1-9]/m.test(metrics) && /^tidewatch_history_stalled 0$/m.test(metrics);
}

/** The commands of the documentation, one after the other. */
async function runExamples({ url }: Served): Promise<void> {
  const page = await readFile(new URL('../../../../src/api/README.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  assert.ok(blocks.length > 10);
  const env = exampleVariables(url, KEY);
  const { stdout } = await promisify(execFile)('sh', ['-euc', blocks.join('\n')], { env, maxBuffer: 2 ** 24 });
  assert.match(stdout, /^event: score$/m);
  assert.match(stdout, /"status":"succeeded"/);
}

const HEADERS = { authorization: `Bearer ${KEY}` };

async function ask({ url }: Served, path: string) {
  const answer = await fetch(`${url}${path}`, { headers: HEADERS });
  // biome-ignore lint/suspicious/noExplicitAny: answers of several shapes
  const body = (await answer.json()) as any;
  assert.equal(answer.status, 200, JSON.stringify(body));
  return body;
}

const SERVICE_KEY = 'a-key-of-the-tests-and-of-nobody-else';
const MINUTE_MS = 60_000;
const BEGIN = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;

async function world() {
  const { config } = await kafkaConnection();
  const { observations, scores, events, changelog, deadLetters } = await freshTopics(1);
  const DATA_DIR = freshFolder();
  const DETECTORS = join(DATA_DIR, 'detectors.yaml');
  const topics = { observations, scores, events, changelog, dead_letters: deadLetters };
  const detectors = [{ name: 'cpu', series: '*', freq: 'min', h: 4, detection_size: 4 }];
  await writeFile(DETECTORS, JSON.stringify({ topics, detectors }));
  const env = {
    DATA_DIR,
    DETECTORS,
    KAFKA_BROKERS: config.brokers.join(),
    KAFKA_GROUP_ID: `group-${observations}`,
    KAFKA_SESSION_MS: '1500',
    CHANGES_TOPIC: `${observations}-changes`,
    TIDEWATCH_API_KEY: SERVICE_KEY,
  };
  return { connection: { config }, events, env };
}

async function call(url: string, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: answer.status, body: (await answer.json()) as { changes?: { id: string; text: string }[] } };
}

const textsOf = async (url: string) =>
  (await call(url, 'GET', '/v1/changes')).body.changes?.map(({ text }) => text) ?? [];
const list = (url: string, texts: readonly string[]) =>
  until(`${texts} are listed`, async () => String((await textsOf(url)).toSorted()) === String(texts.toSorted()));

kafkaTest('changes outlive the service that took them, and appear in the text of an alert', async () => {
  const { connection, events, env } = await world();
  const made = await runCommand(['topics', '--partitions', '1'], env);
  assert.equal(made.exitCode, 0, made.err.join('\n'));
  assert.ok(made.out.includes(`made ${env.CHANGES_TOPIC}`), made.out.join('\n'));
  let served = await serve(env);
  const deploy = {
    id: 'deploy-42',
    time: BEGIN - 12 * MINUTE_MS,
    text: 'deploy web 4.2',
    labels: { service: 'web' },
    link: 'https://ci.example.com/42',
  };
  assert.equal((await call(served.url, 'POST', '/v1/changes', deploy)).status, 200);
  assert.equal((await call(served.url, 'POST', '/v1/changes', { text: 'mistake', id: 'mistake' })).status, 200);
  await list(served.url, ['deploy web 4.2', 'mistake']);
  served.command.kill();
  await served.command.exitCode;
  // What others write is checked, too: it neither stops the reading, nor is it shown.
  await produceRecords(connection, env.CHANGES_TOPIC, [
    { partition: 0, key: Buffer.from('broken'), value: Buffer.from('{"text":') },
    { partition: 0, key: Buffer.from('wrong'), value: Buffer.from('{"text":7}') },
  ]);
  served = await serve(env);
  await list(served.url, ['deploy web 4.2', 'mistake']);
  assert.equal((await call(served.url, 'DELETE', '/v1/changes/mistake')).status, 200);
  await list(served.url, ['deploy web 4.2']);

  const hook = await startHttpReceiver();
  const routes = join(env.DATA_DIR, 'routes.yaml');
  await writeFile(
    routes,
    `allow_private: [127.0.0.1]
receivers: [{ name: hook, webhook: { url: "${hook.url}" } }]
routes: [{ name: all, receivers: hook }]`,
  );
  const alerts = startCommand(['alerts', '--routes', routes, '--from-beginning'], { ...env, OPS_PORT: '0' });
  const { opened } = revisionsOf(1, {
    series: 'a1',
    seriesLabels: { service: 'web' },
    startedAtMs: BEGIN,
    firstAlarmAtMs: BEGIN,
    updatedAtMs: BEGIN,
  });
  const value = Buffer.from(JSON.stringify(opened));
  await produceRecords(connection, events, [{ partition: 0, key: Buffer.from('a1'), value }]);
  await until('the alert is told', () => hook.posts.length > 0);
  const { text } = JSON.parse(hook.posts[0].body).data;
  assert.match(text, /^12 min after deploy web 4\.2 \(https:\/\/ci\.example\.com\/42\)$/m);
  assert.doesNotMatch(text, /mistake/);
  alerts.terminate();
  assert.equal(await alerts.exitCode, 0, alerts.err.join('\n'));
  await stop(served);
});
