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
    assert.deepEqual(
      value,
      Array.from({ length: STEPS }, (_, step) => step * 1_000 + i),
    );
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
