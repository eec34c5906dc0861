import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { type KafkaStream, kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { PASSWORD, securedKafka, USER } from '../../../fixture/kafka/secured-kafka.ts';
import { startTokenEndpoint, unsignedToken } from '../../../fixture/kafka/token-endpoint.ts';
import { assertScoredOnce, QUICK_DETECTOR, waves } from '../../../fixture/stream/scored-stream.ts';
import { until } from '../../../fixture/until.ts';

const WRONG_PASSWORD = 'battery-staple';
const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'];

async function secured() {
  const env = await securedKafka();
  const login = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: USER, KAFKA_SASL_PASSWORD: PASSWORD };
  return { stream: await kafkaStream(1, [QUICK_DETECTOR]), env: { ...env, ...login } };
}

kafkaTest('a worker scores over TLS as a user of any SASL mechanism', async () => {
  const { stream, env } = await secured();
  const records = waves(2, 30, 1);
  const share = records.length / MECHANISMS.length;
  for (const [i, mechanism] of MECHANISMS.entries()) {
    await stream.feed(records.slice(i * share, (i + 1) * share));
    const worker = await stream.startWorker({ ...env, KAFKA_SASL_MECHANISM: mechanism });
    await stream.settled();
    assert.deepEqual(await worker.stop(), { code: 0, signal: null });
    assert.doesNotMatch(worker.said(), new RegExp(PASSWORD));
  }
  assertScoredOnce(await stream.scores(), records);
});

const REFUSED: readonly (readonly [string, Record<string, string>, RegExp])[] = [
  ...MECHANISMS.map((mechanism) => {
    const env = { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_PASSWORD: WRONG_PASSWORD };
    return [`a wrong password for ${mechanism}`, env, /Kafka .*[Aa]uthentication failed/] as const;
  }),
  ['a certificate of an authority that is not known', { KAFKA_TLS_CA: '' }, /certificate.*KAFKA_TLS_CA/],
  ['no TLS where the broker wants it', { KAFKA_TLS: '', KAFKA_TLS_CA: '' }, /KAFKA_TLS=true/],
  [
    'no login where the broker wants one',
    { KAFKA_SASL_MECHANISM: '', KAFKA_SASL_USERNAME: '', KAFKA_SASL_PASSWORD: '' },
    /require a login, set KAFKA_SASL_MECHANISM$/,
  ],
  ['TLS where the broker does not speak it', { KAFKA_BROKERS: 'the open listener' }, /unset KAFKA_TLS/],
];
for (const [fault, changes, sentence] of REFUSED) {
  kafkaTest(`${fault} ends the worker with one sentence`, async () => {
    const { stream, env } = await secured();
    const open = (await kafkaConnection()).config.brokers.join();
    const brokers = changes.KAFKA_BROKERS === undefined ? {} : { KAFKA_BROKERS: open };
    const worker = await stream.startWorker({ ...env, ...changes, ...brokers, START_WAIT_MS: '0' });
    const { code } = await worker.ended;
    assert.ok(code === 1 || code === 2, `it ends with ${code}`);
    const sentences = worker.sentences();
    assert.equal(sentences.length, 1, worker.said());
    assert.match(sentences[0], sentence);
    for (const password of [PASSWORD, WRONG_PASSWORD]) assert.ok(!worker.said().includes(password));
  });
}

const SECRET = 'a+secret/with=signs';
/** kafkajs logs in again 10 s before: so after three seconds. */
const LIFETIME_S = 13;
const folder = freshFolder();

const withTokens = async () => ({ ...(await securedKafka()), KAFKA_SASL_MECHANISM: 'oauthbearer', LOG_LEVEL: 'debug' });

async function refusedWith(stream: KafkaStream, env: Record<string, string>, sentence: RegExp): Promise<void> {
  const worker = await stream.startWorker({ ...env, LOG_LEVEL: 'info' });
  assert.deepEqual(await worker.ended, { code: 2, signal: null }, worker.said());
  const sentences = worker.sentences();
  assert.equal(sentences.length, 1, worker.said());
  assert.match(sentences[0], sentence);
}

async function renewsFromEndpoint(): Promise<void> {
  const env = await withTokens();
  const stream = await kafkaStream(2, [QUICK_DETECTOR]);
  const endpoint = await startTokenEndpoint({ id: 'tide watch', secret: SECRET, lifetimeS: LIFETIME_S });
  const client = { KAFKA_SASL_TOKEN_URL: endpoint.url, KAFKA_SASL_CLIENT_ID: 'tide watch', KAFKA_SASL_SCOPE: 'kafka' };
  const records = waves(4, 60, 2);
  const worker = await stream.startWorker({ ...env, ...client, KAFKA_SASL_CLIENT_SECRET: SECRET });
  await until('it is ready', async () => (await worker.readiness())?.status === 200);
  const before = endpoint.issued();
  await stream.feedSlowly(records, { batch: 12, everyMs: ((LIFETIME_S + 2) * 1000) / (records.length / 12) });
  await stream.settled();
  assertScoredOnce(await stream.scores(), records);
  assert.ok(endpoint.issued() > before, 'logins were repeated with new tokens');
  assert.equal(new URLSearchParams(endpoint.asked[0]).get('scope'), 'kafka');
  assert.deepEqual(worker.logged('connected to Kafka').length, 1, 'no connection was lost as a token expired');
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
  for (const secret of [SECRET, 'eyJ']) assert.ok(!worker.said().includes(secret));
}

async function renewsFromFile(t: TestContext): Promise<void> {
  const env = await withTokens();
  const stream = await kafkaStream(1, [QUICK_DETECTOR]);
  const file = join(folder, 'token');
  const write = (lifetimeS: number) => {
    writeFileSync(`${file}.new`, `${unsignedToken(USER, lifetimeS)}\n`);
    renameSync(`${file}.new`, file);
  };
  write(LIFETIME_S);
  // A busy machine starts the worker after the first token has expired.
  const renewing = setInterval(write, 1_000, LIFETIME_S);
  t.after(() => clearInterval(renewing));
  const worker = await stream.startWorker({ ...env, KAFKA_SASL_TOKEN_FILE: file });
  await until('it is ready', async () => (await worker.readiness())?.status === 200);
  clearInterval(renewing);
  write(300);
  await sleep((LIFETIME_S + 1) * 1000);
  const records = waves(2, 30, 1);
  await stream.feed(records);
  await stream.settled();
  assertScoredOnce(await stream.scores(), records);
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
  assert.ok(!worker.said().includes('eyJ'));
}

kafkaTest('tokens of an endpoint and of a file are renewed while a worker runs, and no secret is logged', async (t) => {
  // Both wait for the end of a token.
  await Promise.all([renewsFromEndpoint(), renewsFromFile(t)]);
});

kafkaTest('a wrong secret and a refused token end the worker with one sentence', async () => {
  const env = await withTokens();
  const stream = await kafkaStream(1, [QUICK_DETECTOR]);
  const endpoint = await startTokenEndpoint({ id: 'tidewatch', secret: SECRET, lifetimeS: 60 });
  const client = { KAFKA_SASL_TOKEN_URL: endpoint.url, KAFKA_SASL_CLIENT_ID: 'tidewatch' };
  const wrong = { ...env, ...client, KAFKA_SASL_CLIENT_SECRET: 'another' };
  await refusedWith(stream, wrong, /Token endpoint http.* answered 401 \(invalid_client\)/);
  const file = join(folder, 'expired-token');
  await writeFile(file, unsignedToken(USER, -60));
  await refusedWith(stream, { ...env, KAFKA_SASL_TOKEN_FILE: file }, /Kafka refused the OAUTHBEARER token/);
});
