import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { produceRecords } from '../../../../src/kafka/produce/bulk-producer.ts';
import { startHttpReceiver } from '../../../fixture/alerts/http-receiver.ts';
import { revisionsOf } from '../../../fixture/alerts/notification.ts';
import { runCommand, startCommand } from '../../../fixture/command.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { serve, stop } from '../../../fixture/http/served.ts';
import { freshTopics, kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { until } from '../../../fixture/until.ts';

const KEY = 'a-key-of-the-tests-and-of-nobody-else';
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
    TIDEWATCH_API_KEY: KEY,
  };
  return { connection: { config }, events, env };
}

async function call(url: string, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
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
