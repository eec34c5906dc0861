/** One table says what each route requires, costs and accepts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fastify from 'fastify';
import { RefusedCalls } from '../../../src/api/accounts/refused-calls.ts';
import type { App } from '../../../src/api/http/exchange/app-services.ts';
import { answerProblems } from '../../../src/api/http/exchange/failures.ts';
import { noteAdmitted, requireKey } from '../../../src/api/http/exchange/require-key.ts';
import { holdToTable, type RouteRules, type RouteTable } from '../../../src/api/http/exchange/route-rules.ts';
import { ROUTE_TABLE } from '../../../src/api/http/route-table.ts';
import { consoleFiles } from '../../../src/console/page-files.ts';
import { createLogger } from '../../../src/ops/logger.ts';
import { hasRole, KEY_ROLES } from '../../../src/store/keys/key-role.ts';
import { AUTHORIZED, KEY, startApp } from '../../fixture/http/http-service.ts';
import { memoryAccounts } from '../../fixture/store/memory-store.ts';
import { until } from '../../fixture/until.ts';

const consolePage = consoleFiles();
const everything = { consolePage, web: { corsOrigins: ['https://console.example'] } };
/** Methods of gRPC have a listener of their own. */
const ofHttp = Object.entries(ROUTE_TABLE).filter(([row]) => !row.startsWith('gRPC '));
const rows = ofHttp.map(([row, rules]) => {
  const [method, path] = row.split(' ');
  return { row, method: method as 'GET' | 'POST', path, url: path.replace(':id', 'x'), rules };
});
const routes = rows.filter(({ path }) => !path.includes('*'));

/** An application of no other routes than those of a table. */
async function small(table: RouteTable, lines: string[] = []): Promise<App> {
  const accounts = await memoryAccounts({ secret: KEY });
  const logger = createLogger('error', { write: (line) => void lines.push(line) });
  const app: App = fastify();
  answerProblems(app, logger);
  holdToTable(app, table);
  const refusedCalls = new RefusedCalls({ sql: accounts.store, nowMs: () => 0, logger });
  requireKey(app, { ...accounts, refusedCalls, nowMs: () => 0 });
  return app;
}

const RULES: RouteRules = { ...ROUTE_TABLE['GET /v1/series'], role: 'viewer' };

test('a route without a row in the table does not start', async () => {
  const file = { path: '/v1/unlisted', contentType: 'text/plain', body: Buffer.from(''), immutable: true };
  const unlisted = { ...consolePage, files: [file] };
  await assert.rejects(startApp(undefined, { consolePage: unlisted }), /GET \/v1\/unlisted has no row in the table/);
  const app = await small({ 'GET /listed': RULES });
  app.get('/listed', async () => ({}));
  assert.throws(() => app.post('/listed', async () => ({})), /POST \/listed has no row/);
});

test('a route that takes a body has a limit of it, and no other has', async () => {
  const app = await small({ 'POST /a': RULES, 'POST /b': { ...RULES, bodyBytesMax: 10 } });
  assert.throws(() => app.post('/a', { schema: { body: {} } }, async () => ({})), /POST \/a .* but not both/);
  assert.throws(() => app.post('/b', async () => ({})), /POST \/b .* but not both/);
});

test('every row of the table has its route', async () => {
  const app = await startApp(undefined, everything);
  const lacking = routes.filter(({ method, path: url }) => !app.hasRoute({ method, url }));
  const rows = lacking.map(({ row }) => row);
  assert.deepEqual(rows, []);
});

test('who may do what is listed here: admins alone, and what a key that only reads may send', () => {
  const rowsOf = (role: string | null) => routes.filter(({ rules }) => rules.role === role).map(({ row }) => row);
  const notRead = (row: string) => !row.startsWith('GET ');
  const keys = ['GET /v1/keys', 'GET /v1/keys/:id', 'GET /v1/keys/:id/usage', 'POST /v1/keys'];
  const changes = ['credit', 'revoke', 'role'].map((change) => `POST /v1/keys/:id/${change}`);
  assert.deepEqual(rowsOf('admin').sort(), ['GET /v1/audit', ...keys, ...changes, 'PUT /v1/detectors']);
  assert.deepEqual(rowsOf('viewer').filter(notRead).sort(), [
    'DELETE /mcp',
    'DELETE /v1/sessions',
    'DELETE /v1/sessions/:id',
    'POST /mcp',
    'POST /model_params',
    'POST /validate_token',
  ]);
  assert.deepEqual(rowsOf(null).filter(notRead).sort(), ['DELETE /console/session', 'POST /console/session']);
});

for (const role of KEY_ROLES) {
  test(`each route needs a key where its row has a role, and takes a key of the role ${role} if that suffices`, async () => {
    const app = await startApp(undefined, { ...everything, key: { role } });
    for (const { row, method, url, rules } of routes) {
      // It takes a key or a code for signing in, and looks for both itself.
      if (row === 'POST /console/session') continue;
      const { statusCode: without } = await app.inject({ method, url });
      assert.equal(without === 401, rules.role !== null, row);
      if (rules.role === null || row === 'GET /v1/live') continue;
      const { statusCode, body } = await app.inject({ method, url, headers: AUTHORIZED });
      assert.equal(statusCode === 403, !hasRole(role, rules.role), row);
      const text = `This needs a key with the role ${rules.role}; this key has the role ${role}`;
      // In the format of its senders, too.
      assert.equal(body.includes(text), statusCode === 403, row);
    }
  });
}

test('each route takes a body up to the limit of its row', async () => {
  const app = await startApp(undefined, { ...everything, key: { role: 'admin' } });
  for (const { row, method, url, rules } of routes) {
    if (rules.bodyBytesMax === null) continue;
    const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
    const sent = { ...headers, 'content-length': String(rules.bodyBytesMax + 1) };
    const refused = await app.inject({ method, url, headers: sent, payload: '{}' });
    assert.equal(refused.statusCode, 413, row);
    assert.ok(refused.json().detail.includes(`larger than ${rules.bodyBytesMax} bytes`), row);
    if (rules.bodyBytesMax > 1_000_000) continue;
    const found = await app.inject({ method, url, headers, payload: ' '.repeat(rules.bodyBytesMax + 1) });
    assert.equal(found.statusCode, 413, row);
  }
});

test('an answer of a route that costs tokens is never sent without its charge', async () => {
  const lines: string[] = [];
  const app = await small({ 'GET /priced': { ...RULES, price: 'tokens' } }, lines);
  app.get<{ Querystring: { charged?: string } }>('/priced', async (request) => {
    if (request.query.charged) noteAdmitted(request);
    return { answer: 1 };
  });
  assert.equal((await app.inject({ url: '/priced?charged=1', headers: AUTHORIZED })).statusCode, 200);
  const { statusCode, body } = await app.inject({ url: '/priced', headers: AUTHORIZED });
  assert.deepEqual([statusCode, body.includes('answer":1')], [500, false]);
  assert.match(lines.join(), /an answer that costs tokens was not charged/);
});

test('a key has as many requests open to a route as its row allows, and its place back when one ends', async () => {
  const app = await small({ 'GET /slow': { ...RULES, atOnce: 2 }, 'GET /other': { ...RULES, atOnce: 2 } });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let running = 0;
  app.get('/other', async () => ({}));
  app.get('/slow', async () => {
    running++;
    await released;
    return {};
  });
  const ask = (url: string) => app.inject({ url, headers: AUTHORIZED });
  const first = [ask('/slow'), ask('/slow')];
  await until('both are open', () => running === 2);
  const third = await ask('/slow');
  assert.deepEqual([third.statusCode, third.headers['retry-after']], [429, '1']);
  assert.match(third.json().detail, /This key may send 2 such requests at once/);
  assert.equal((await ask('/other')).statusCode, 200);
  release();
  const statusCodes = (await Promise.all(first)).map(({ statusCode }) => statusCode);
  assert.deepEqual(statusCodes, [200, 200]);
  assert.equal((await ask('/slow')).statusCode, 200);
});

test('no answer of /v1 is kept or guessed at, whatever its status', async () => {
  const app = await startApp(undefined, { ...everything, key: { role: 'admin' } });
  const none = ['/v1/nothing', '/v1/%zz'].map((url) => ({ row: url, method: 'GET' as const, url }));
  for (const { row, method, url } of [...routes, ...none]) {
    const { headers } = await app.inject({ method, url, headers: AUTHORIZED });
    assert.equal(headers['x-content-type-options'], 'nosniff', row);
    assert.equal(headers['strict-transport-security'], undefined, row);
    if (url.startsWith('/v1/')) assert.equal(headers['cache-control'], 'no-store', row);
  }
});

test('browsers use TLS from then on, where the service or a trusted proxy speaks it', async () => {
  const app = await startApp(undefined, { web: { trustedProxies: ['10.0.0.1'] } });
  const headers = { ...AUTHORIZED, 'x-forwarded-proto': 'https' };
  const tlsOnly = async (remoteAddress: string) =>
    (await app.inject({ url: '/usage', remoteAddress, headers })).headers['strict-transport-security'];
  assert.equal(await tlsOnly('10.0.0.1'), 'max-age=31536000');
  assert.equal(await tlsOnly('203.0.113.1'), undefined);
});
