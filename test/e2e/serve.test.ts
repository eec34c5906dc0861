import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type RunningCommand, startCommand } from '../fixture/command.ts';
import { writeModelFolder } from '../fixture/model-folder.ts';

let modelsDir = '';

before(async () => {
  modelsDir = await mkdtemp(join(tmpdir(), 'tidewatch-serve-'));
  await writeModelFolder(modelsDir, 'mean');
});

after(() => rm(modelsDir, { recursive: true }));

async function serve(env: Record<string, string> = {}): Promise<{ command: RunningCommand; url: string }> {
  const ports = { HTTP_PORT: '0', OPS_PORT: '0', INFERENCE_THREADS: '1', MODELS_DIR: modelsDir };
  const command = startCommand(['serve'], { ...ports, ...env });
  const started = () => command.out.find((line) => line.includes('"serving"'));
  await command.until(() => started() !== undefined);
  return { command, url: JSON.parse(started()!).url };
}

const body = JSON.stringify({
  series: { y: Array.from({ length: 60 }, (_, i) => i % 7), sizes: [60] },
  model: 'mean',
  freq: 'D',
  h: 3,
  detection_size: 3,
});
const path = '/v2/online_anomaly_detection';

test('without a key one is made, shown once and never logged; it opens the door', async () => {
  const { command, url } = await serve();
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
});

test('a request that has begun when the service ends is answered, and the end is clean', async () => {
  const { command, url } = await serve({ TIDEWATCH_API_KEY: 'mine' });
  const begun = request(`${url}${path}`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer mine',
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    },
  });
  begun.flushHeaders();
  await once(begun, 'continue');
  command.interrupt();
  await command.until(() => command.out.some((line) => line.includes('ending')));
  begun.end(body);
  const [answer] = await once(begun, 'response');
  assert.equal(answer.statusCode, 200);
  answer.resume();
  assert.equal(await command.exitCode, 0);
});

test('a port that is taken is told with the settings that change it', async () => {
  const { command, url } = await serve({ TIDEWATCH_API_KEY: 'mine' });
  const second = startCommand(['serve'], {
    HTTP_PORT: new URL(url).port,
    OPS_PORT: '0',
    INFERENCE_THREADS: '1',
    MODELS_DIR: modelsDir,
  });
  assert.equal(await second.exitCode, 2);
  assert.match(second.err.join('\n'), /HTTP_PORT/);
  assert.doesNotMatch(second.err.join('\n'), /tw_/);
  command.interrupt();
  assert.equal(await command.exitCode, 0);
});
