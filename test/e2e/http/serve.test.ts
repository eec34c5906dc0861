import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand, startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { serve, statusOf } from '../../fixture/http/served.ts';
import { until } from '../../fixture/until.ts';

const MINE = 'mine-and-nobody-elses-key';

const body = JSON.stringify({
  series: { y: Array.from({ length: 60 }, (_, i) => i % 7), sizes: [60] },
  model: 'mean',
  freq: 'D',
  h: 3,
  detection_size: 3,
});
const path = '/v2/online_anomaly_detection';

test('without a key one is made, shown once and never logged; it opens the door, after a restart as well', async () => {
  const DATA_DIR = freshFolder();
  const { command, url } = await serve({ DATA_DIR });
  const shown = command.err.join('\n');
  const key = /tw_[\w-]{43}/.exec(shown)![0];
  assert.equal(shown.split(key).length, 2);
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  });
  assert.equal(answer.status, 200);
  assert.equal(((await answer.json()) as { mean: number[] }).mean.length, 3);
  command.interrupt();
  assert.equal(await command.exitCode, 0);
  assert.equal(command.out.join('\n').includes(key), false);
  const again = await serve({ DATA_DIR });
  assert.deepEqual(again.command.err, []);
  assert.equal(await statusOf(again.url, key), 200);
  again.command.interrupt();
  assert.equal(await again.command.exitCode, 0);
});

test('a request that has begun when the service ends is answered, and the end is clean', async () => {
  const { command, url } = await serve({ TIDEWATCH_API_KEY: MINE });
  const begun = request(`${url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${MINE}`,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    },
  });
  begun.flushHeaders();
  await once(begun, 'continue');
  command.interrupt();
  await command.until(() => command.out.some((line) => line.includes('draining')));
  begun.end(body);
  const [answer] = await once(begun, 'response');
  assert.equal(answer.statusCode, 200);
  answer.resume();
  assert.equal(await command.exitCode, 0);
});

test('a port that is taken is reported with the settings that change it', async () => {
  const { command, url } = await serve({ TIDEWATCH_API_KEY: MINE });
  const second = startCommand(['serve'], {
    HTTP_PORT: new URL(url).port,
    OPS_PORT: '0',
    INFERENCE_THREADS: '1',
  });
  assert.equal(await second.exitCode, 2);
  assert.match(second.err.join('\n'), /HTTP_PORT/);
  assert.doesNotMatch(second.err.join('\n'), /tw_/);
  command.interrupt();
  assert.equal(await command.exitCode, 0);
});

test('after SIGTERM the service is not ready at once, answers while it drains, and ends cleanly', async () => {
  const { command, url, ops } = await serve({ TIDEWATCH_API_KEY: MINE, DRAIN_MS: '5000' });
  assert.equal((await fetch(`${ops}/readyz`)).status, 200);
  command.terminate();
  await until('it is not ready', async () => (await fetch(`${ops}/readyz`)).status === 503, { everyMs: 10 });
  assert.equal(await statusOf(url, MINE), 200);
  assert.equal(
    command.out.some((line) => line.includes('draining')),
    false,
  );
  assert.equal(await command.exitCode, 0);
});

test('a service that other machines reach without TLS warns at its start', async () => {
  const exposed = await serve({ HTTP_HOST: '0.0.0.0', TIDEWATCH_API_KEY: MINE });
  await exposed.command.until(() => exposed.command.out.some((line) => line.includes('keys can be intercepted')));
  exposed.command.interrupt();
  assert.equal(await exposed.command.exitCode, 0);
});

test('the first key may be given by a file, and is an admin', async () => {
  const DATA_DIR = freshFolder();
  const path = join(DATA_DIR, 'key');
  await writeFile(path, `${MINE}\n`);
  const { command, url } = await serve({ DATA_DIR, TIDEWATCH_API_KEY_FILE: path });
  const headers = { authorization: `Bearer ${MINE}` };
  assert.equal((await fetch(`${url}/v1/keys`, { headers })).status, 200);
  assert.equal(command.out.join('\n').includes('keys can be intercepted'), false);
  command.interrupt();
  assert.equal(await command.exitCode, 0);
});

test('scores to scrape without the Kafka that has them are a problem of the settings', async () => {
  const { exitCode, err } = await runCommand(['serve'], { SCORES_PORT: '0', OPS_PORT: '0', HTTP_PORT: '0' });
  assert.equal(exitCode, 2);
  assert.match(err.join('\n'), /SCORES_PORT is set, but KAFKA_BROKERS is not/);
});
