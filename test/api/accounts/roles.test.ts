import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyRole } from '../../../src/store/keys/key-role.ts';
import { ask } from '../../fixture/http/ask.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';

const FORECAST = { series: { y: Array.from({ length: 40 }, (_, i) => Math.sin(i)), sizes: [40] }, freq: 'h', h: 2 };

const start = (role: KeyRole) => startApp(undefined, { key: { role } });

test('a viewer reads, and may neither compute nor change anything', async () => {
  const app = await start('viewer');
  for (const url of ['/validate_api_key', '/usage', '/v2/models', '/v2/async/jobs', '/model_params?freq=h']) {
    assert.equal((await app.inject({ url, headers: AUTHORIZED })).statusCode, 200, url);
  }
  const old = await app.inject({ method: 'POST', url: '/validate_token', headers: AUTHORIZED });
  assert.equal(old.statusCode, 200);
  assert.equal((await ask(app, '/model_params', { freq: 'h' })).status, 200);
  for (const url of ['/v2/forecast', '/v2/forecast/async', '/v2/finetune', '/v2/async/jobs/x/cancel']) {
    const { status, body } = await ask(app, url, FORECAST);
    assert.deepEqual(
      [status, body],
      [403, { detail: 'This needs a key with the role operator; this key has the role viewer' }],
    );
  }
  const removed = await app.inject({ method: 'DELETE', url: '/v2/finetuned_models/x', headers: AUTHORIZED });
  assert.equal(removed.statusCode, 403);
});

for (const role of ['operator', 'admin'] as const) {
  test(`an ${role} computes and changes`, async () => {
    const app = await start(role);
    assert.equal((await ask(app, '/v2/forecast', FORECAST)).status, 200);
    assert.equal((await ask(app, '/v2/finetune', { ...FORECAST, finetune_steps: 1 })).status, 200);
  });
}
