import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { App } from '../../../src/api/http/exchange/app-services.ts';
import { createApiKey } from '../../../src/store/keys/api-keys.ts';
import { ask, sender } from '../../fixture/http/ask.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';
import { openMemoryStore } from '../../fixture/store/memory-store.ts';
import { newKey } from '../../fixture/store/new-key.ts';

const NOW = Date.UTC(2026, 9, 31, 12);
const FORECAST = { series: { y: Array.from({ length: 40 }, (_, i) => Math.sin(i)), sizes: [40] }, freq: 'h', h: 2 };

async function start() {
  const store = await openMemoryStore();
  const app = await startApp(undefined, { store, nowMs: () => NOW, key: { role: 'admin' } });
  const get = async (url: string) => (await app.inject({ url, headers: AUTHORIZED })).json();
  return { app, store, get };
}

const forecastWith = (app: App, secret: string) =>
  sender(app, { authorization: `Bearer ${secret}` })('POST', '/v2/forecast', FORECAST);

test('an admin creates a key, sees its usage, credits it, changes its role and revokes it, and all is audited', async () => {
  const { app, get } = await start();
  const made = await ask(app, '/v1/keys', { name: 'shop', credits: 42, expires_at: '2026-12-01T00:00:00Z' });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const { key: secret, id, ...record } = made.body;
  assert.deepEqual([record.role, record.owner, record.credits, record.state], ['operator', id, 42, 'valid']);
  assert.equal((await forecastWith(app, secret)).status, 200);
  assert.equal((await forecastWith(app, secret)).status, 429);

  const usage = await get(`/v1/keys/${id}/usage`);
  assert.deepEqual(usage.days, [{ day: '2026-10-31', calls: 1, requests: 1, tokens: 42, charged: 42 }]);
  assert.deepEqual(usage.month, { requests: 1, tokens: 42 });

  assert.equal((await ask(app, `/v1/keys/${id}/credit`, { tokens: 42 })).body.credits, 42);
  assert.equal((await forecastWith(app, secret)).status, 200);
  assert.equal((await ask(app, `/v1/keys/${id}/role`, { role: 'viewer' })).body.role, 'viewer');
  assert.equal((await forecastWith(app, secret)).status, 403);
  assert.equal((await ask(app, `/v1/keys/${id}/revoke`, {})).body.state, 'revoked');
  assert.equal((await forecastWith(app, secret)).status, 401);

  const keys = await get('/v1/keys');
  assert.deepEqual(keys.keys.map((key: { name: string }) => key.name).sort(), ['key the-key', 'shop']);
  assert.doesNotMatch(JSON.stringify(keys), new RegExp(secret.slice(8)));
  const { events } = await get(`/v1/audit?subject=${id}`);
  const actual = events.map(({ actor, action }: { actor: string; action: string }) => [actor, action]);
  const expected = ['key-revoked', 'key-role-changed', 'key-credited', 'key-created'].map((action) => [
    'the-key',
    action,
  ]);
  assert.deepEqual(actual, expected);
});

test('what an admin gets wrong is named, and an unknown key is 404', async () => {
  const { app } = await start();
  const wrong = { name: '', models: ['tsmodel-1', 'none'], expires_at: '2020-01-01T00:00:00Z' };
  const problems = (await ask(app, '/v1/keys', wrong)).body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'));
  assert.deepEqual(problems, ['body.name']);
  const more = await ask(app, '/v1/keys', { ...wrong, name: 'x' });
  const actual = more.body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'));
  assert.deepEqual(actual, ['body.models.1', 'body.expires_at']);
  assert.equal((await ask(app, '/v1/keys/none/role', { role: 'admin' })).status, 404);
  assert.equal((await ask(app, '/v1/keys/the-key/role', { role: 'king' })).status, 422);
  assert.equal((await ask(app, '/v1/keys/the-key/credit', { tokens: -1 })).status, 422);
});

test('the last admin cannot lock itself out: a key neither revokes nor demotes itself', async () => {
  const { app } = await start();
  assert.equal((await ask(app, '/v1/keys/the-key/revoke', {})).status, 422);
  assert.equal((await ask(app, '/v1/keys/the-key/role', { role: 'viewer' })).status, 422);
});

test('the audit log is read in pages, newest first', async () => {
  const { store, get } = await start();
  for (let i = 0; i < 5; i++) await createApiKey(store, newKey(`k${i}`), i % 2 === 0 ? 'operator' : 'boss');
  const [first, subjects] = [await get('/v1/audit?page_size=4'), [] as string[]];
  const second = await get(`/v1/audit?page_size=4&page_token=${first.next_page_token}`);
  for (const { events } of [first, second]) subjects.push(...events.map(({ subject }: { subject: string }) => subject));
  assert.deepEqual(subjects, ['k4', 'k3', 'k2', 'k1', 'k0', 'the-key']);
  assert.equal(second.next_page_token, null);
  assert.equal((await get('/v1/audit?actor=boss')).events.length, 2);
});
