import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../../src/store/database/open-store.ts';
import { createFinetunedModel, listFinetunedModels } from '../../../src/store/models/finetuned-models.ts';
import { runCommand, startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { serve, statusOf, stop } from '../../fixture/http/served.ts';
import { newModel, unrecorded } from '../../fixture/store/new-model.ts';
import { postgresTest } from '../../fixture/store/stores.ts';

const LOOK_MS = 100;
const REVOKED_MS_MAX = 5_000;

async function keys(env: Readonly<Record<string, string>>, ...args: string[]) {
  const { exitCode, out, err } = await runCommand(['keys', ...args], env);
  return { exitCode, out: out.join('\n'), err: err.join('\n') };
}

async function create(
  env: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<{ id: string; secret: string }> {
  const { exitCode, out, err } = await keys(env, 'create', ...args);
  assert.equal(exitCode, 0, err);
  assert.match(out, /^tw_[\w-]{43}$/);
  return { id: /Key (\w+) was created/.exec(err)![1], secret: out };
}

const forecast = (url: string, secret: string, model = 'mean') =>
  fetch(`${url}/v2/forecast`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ series: { y: [1, 2, 3, 4, 5, 6, 7, 8], sizes: [8] }, model, freq: 'D', h: 2 }),
  });

test('keys are created, shown once, listed without secrets, credited and revoked on a running service', async () => {
  const env = { DATA_DIR: freshFolder() };
  const service = await serve({ ...env, TIDEWATCH_API_KEY: 'the-configured-key-of-a-test' });
  const { id, secret } = await create(env, '--name', 'shop', '--credits', '15', '--models', 'mean', '--expires', '30d');
  assert.equal(await statusOf(service.url, secret), 200);
  assert.equal((await forecast(service.url, secret)).status, 200);
  const refused = await forecast(service.url, secret);
  assert.deepEqual([refused.status, ((await refused.json()) as { code: string }).code], [429, 'A21']);

  const listed = await keys(env, 'list');
  assert.match(listed.out, new RegExp(`^${id} +${secret.slice(0, 8)}… +shop .* valid .* 5 +mean$`, 'm'));
  assert.match(listed.out, / TIDEWATCH_API_KEY +- +admin +valid/);
  assert.doesNotMatch(listed.out, new RegExp(secret.slice(8)));

  assert.match((await keys(env, 'credit', secret.slice(0, 8), '--credits', '10')).out, / has 15 tokens left/);
  assert.equal((await forecast(service.url, secret)).status, 200);
  assert.match((await keys(env, 'role', id, '--role', 'viewer')).out, / has the role viewer/);
  const { exitCode, out } = await keys(env, 'revoke', id.slice(0, 6));
  assert.deepEqual([exitCode, /is revoked/.test(out)], [0, true]);
  await untilRefused(service.url, secret);
  assert.match((await keys(env, 'list')).out, new RegExp(`^${id} .* revoked `, 'm'));
  assert.equal(await statusOf(service.url, 'the-configured-key-of-a-test'), 200);
  await stop(service);
  const log = service.command.out.join('\n');
  assert.doesNotMatch(log, new RegExp(secret));
});

/** Asks until the key is refused; the number of looks, not a clock, says when it has taken too long. */
async function untilRefused(url: string, secret: string): Promise<void> {
  for (let looks = 0; looks < REVOKED_MS_MAX / LOOK_MS; looks++) {
    if ((await statusOf(url, secret)) === 401) return;
    await sleep(LOOK_MS);
  }
  assert.fail('the key still opens the door');
}

postgresTest('two replicas know the same keys, and a revocation within seconds', async ({ place }) => {
  const env = { STORE_URL: place.url! };
  const replicas = await Promise.all([serve(env), serve(env)]);
  const shown = replicas.flatMap(({ command }) => command.err).join('\n');
  assert.equal(shown.match(/tw_[\w-]{43}/g)?.length, 1);
  const { id, secret } = await create(env);
  for (const { url } of replicas) assert.equal(await statusOf(url, secret), 200);
  await keys(env, 'revoke', id);
  await Promise.all(replicas.map(({ url }) => untilRefused(url, secret)));
  await Promise.all(replicas.map(stop));
});

test('a service whose store is unavailable reports it in one sentence', async () => {
  const url = 'postgres://someone:a-password@127.0.0.1:1/tidewatch';
  const command = startCommand(['serve'], { STORE_URL: url, OPS_PORT: '0', HTTP_PORT: '0', INFERENCE_THREADS: '1' });
  assert.equal(await command.exitCode, 1);
  assert.equal(command.err.length, 1);
  assert.match(command.err[0], /store \(Postgres\) cannot be reached: .*ECONNREFUSED.*STORE_URL/);
  assert.doesNotMatch([...command.out, ...command.err].join('\n'), /a-password/);
});

test('a copy of the data folder of an idle service has every key and model', async () => {
  const [original, copy] = [freshFolder(), join(freshFolder(), 'copy')];
  const service = await serve({ DATA_DIR: original });
  const { secret } = await create({ DATA_DIR: original }, '--owner', 'ann');
  const database = await openDatabase({ dataDir: original, url: null });
  const weights = new Uint8Array(50_000).fill(7);
  await createFinetunedModel(database, newModel('tuned', { owner: 'ann' }), { weights, recordEvent: unrecorded });
  assert.equal((await forecast(service.url, secret)).status, 200);
  await cp(original, copy, { recursive: true });
  service.command.kill();
  await service.command.exitCode;
  await database.close();

  const restored = await serve({ DATA_DIR: copy });
  assert.equal(await statusOf(restored.url, secret), 200);
  const headers = { authorization: `Bearer ${secret}` };
  const usage = (await (await fetch(`${restored.url}/usage`, { headers })).json()) as { month: { requests: number } };
  assert.equal(usage.month.requests, 1);
  await stop(restored);
  const after = await openDatabase({ dataDir: copy, url: null });
  const ids = (await listFinetunedModels(after, 'ann')).map(({ id }) => id);
  assert.deepEqual(ids, ['tuned']);
  await after.close();
});
