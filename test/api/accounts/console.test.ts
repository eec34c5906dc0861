import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignInCode } from '../../../src/api/accounts/sign-in/sign-in-code.ts';
import { consoleFiles } from '../../../src/console/page-files.ts';
import type { NewApiKey } from '../../../src/store/keys/api-keys.ts';
import { SESSION_IDLE_MS, SESSION_MS_MAX } from '../../../src/store/keys/console-sessions.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';

const SESSION = '/console/session';
const HOST = 'watch.example:8080';
const SAME_SITE = { host: HOST, origin: `http://${HOST}`, 'sec-fetch-site': 'same-origin' };

async function signedIn(key: Partial<NewApiKey> = {}, nowMs = () => 0) {
  const app = await startApp(undefined, { consolePage: consoleFiles(), key: { role: 'admin', ...key }, nowMs });
  const answer = await app.inject({ method: 'POST', url: SESSION, headers: { ...SAME_SITE, ...AUTHORIZED } });
  assert.equal(answer.statusCode, 200);
  const [{ name, value, ...attributes }] = answer.cookies;
  return { app, headers: { ...SAME_SITE, cookie: `${name}=${value}` }, attributes, answer };
}

test('a key begins a session that no script reads and no other site sends', async () => {
  const { app, headers, attributes, answer } = await signedIn();
  assert.deepEqual(answer.json(), { session: { name: 'key the-key', role: 'admin' } });
  assert.deepEqual(attributes, { httpOnly: true, sameSite: 'Strict', path: '/', maxAge: SESSION_MS_MAX / 1_000 });
  assert.equal((await app.inject({ url: '/validate_api_key', headers })).statusCode, 200);
  const { role } = (await app.inject({ url: SESSION, headers })).json().session;
  assert.equal(role, 'admin');
});

test('a code begins one session of its key, and opens nothing else', async () => {
  const signInCode = new SignInCode();
  const app = await startApp(undefined, { consolePage: consoleFiles(), key: { role: 'admin' }, signInCode });
  const [{ id }] = (await app.inject({ url: '/v1/keys', headers: AUTHORIZED })).json().keys;
  const authorization = `Bearer ${signInCode.make(id, 0)}`;
  assert.equal((await app.inject({ url: '/usage', headers: { authorization } })).statusCode, 401);
  const post = () => app.inject({ method: 'POST', url: SESSION, headers: { ...SAME_SITE, authorization } });
  const first = await post();
  assert.deepEqual([first.statusCode, first.json().session.role], [200, 'admin']);
  assert.equal((await post()).statusCode, 401, 'it was used');
});

test('a code of a key that was revoked meanwhile begins no session', async () => {
  const signInCode = new SignInCode();
  const app = await startApp(undefined, { consolePage: consoleFiles(), signInCode });
  const authorization = `Bearer ${signInCode.make('no-such-key', 0)}`;
  const { statusCode } = await app.inject({ method: 'POST', url: SESSION, headers: { ...SAME_SITE, authorization } });
  assert.equal(statusCode, 401);
});

test('no key, no session', async () => {
  const app = await startApp(undefined, { consolePage: consoleFiles() });
  assert.equal((await app.inject({ method: 'POST', url: SESSION, headers: SAME_SITE })).statusCode, 401);
  assert.deepEqual((await app.inject({ url: SESSION })).json(), { session: null });
  const made_up = { ...SAME_SITE, cookie: 'tidewatch-session=made-up' };
  assert.equal((await app.inject({ url: '/validate_api_key', headers: made_up })).statusCode, 401);
});

test('a session that another site sends is refused, whatever its cookie', async () => {
  const { app, headers } = await signedIn();
  const { origin: _, ...withoutOrigin } = headers;
  for (const changed of [
    { ...headers, 'sec-fetch-site': 'cross-site' },
    { ...headers, 'sec-fetch-site': 'same-site' },
    { ...headers, origin: 'http://watch.example:9999' },
    { ...headers, origin: 'null' },
    withoutOrigin,
  ]) {
    const { statusCode } = await app.inject({ method: 'POST', url: '/validate_token', headers: changed });
    assert.equal(statusCode, 403, JSON.stringify(changed));
  }
  assert.equal((await app.inject({ method: 'POST', url: '/validate_token', headers })).statusCode, 200);
});

test('a session ends at sign-out, when its key is revoked, and when it was idle', async () => {
  let nowMs = 0;
  const { app, headers } = await signedIn({}, () => nowMs);
  const status = async () => (await app.inject({ url: '/usage', headers })).statusCode;
  nowMs += SESSION_IDLE_MS - 1;
  assert.equal(await status(), 200, 'a request prolongs it');
  nowMs += SESSION_IDLE_MS - 1;
  assert.equal(await status(), 200);
  nowMs += SESSION_IDLE_MS + 1;
  assert.equal(await status(), 401);

  const other = await signedIn();
  await other.app.inject({ method: 'DELETE', url: SESSION, headers: other.headers });
  assert.equal((await other.app.inject({ url: '/usage', headers: other.headers })).statusCode, 401);
});

test('a session may do what its key may', async () => {
  const { app, headers } = await signedIn({ role: 'viewer' });
  assert.equal((await app.inject({ url: '/usage', headers })).statusCode, 200);
  assert.equal((await app.inject({ url: '/v1/keys', headers })).statusCode, 403);
});

test('the page is served with its policy, from its own address alone', async () => {
  const app = await startApp(undefined, { consolePage: consoleFiles() });
  const page = await app.inject({ url: '/console' });
  assert.equal(page.statusCode, 200);
  assert.match(String(page.headers['content-security-policy']), /^default-src 'none'; script-src 'self';/);
  assert.equal(page.headers['cache-control'], 'no-cache');
  const [, style] = /href="([^"]+\.css)"/.exec(page.body)!;
  assert.match(String((await app.inject({ url: style })).headers['cache-control']), /immutable/);
  assert.equal((await app.inject({ url: '/' })).headers.location, '/console');
});

/** A service with an admin, and a second key of this role, each with two sessions. */
async function sessionsOfTwo(role: string) {
  const { app, headers } = await signedIn();
  const admin = { ...SAME_SITE, ...AUTHORIZED, 'content-type': 'application/json' };
  const payload = JSON.stringify({ name: 'second', role });
  const { key } = (await app.inject({ method: 'POST', url: '/v1/keys', headers: admin, payload })).json();
  const begin = async (authorization: string) => {
    const answer = await app.inject({ method: 'POST', url: SESSION, headers: { ...SAME_SITE, authorization } });
    return { ...SAME_SITE, cookie: `${answer.cookies[0].name}=${answer.cookies[0].value}` };
  };
  const others = [await begin(`Bearer ${key}`), await begin(`Bearer ${key}`)];
  const status = async (of: object) => (await app.inject({ url: '/usage', headers: { ...of } })).statusCode;
  return { app, headers, second: { ...SAME_SITE, authorization: `Bearer ${key}` }, others, status };
}

test('a key lists its own sessions and ends one of them, or all', async () => {
  const { app, headers, second, others, status } = await sessionsOfTwo('viewer');
  const { sessions } = (await app.inject({ url: '/v1/sessions', headers: others[0] })).json();
  const actual = sessions
    .map(({ key_name, current }: { key_name: string; current: boolean }) => [key_name, current])
    .sort();
  assert.deepEqual(actual, [
    ['second', false],
    ['second', true],
  ]);
  const { id } = sessions.find(({ current }: { current: boolean }) => !current);
  assert.equal((await app.inject({ url: '/v1/sessions?of=all', headers: second })).statusCode, 403);
  const foreign = (await app.inject({ url: '/v1/sessions', headers })).json().sessions[0].id;
  const ending = async (path: string, as: object) => {
    const { statusCode, body } = await app.inject({ method: 'DELETE', url: path, headers: { ...as } });
    return [statusCode, JSON.parse(body).ended];
  };
  assert.deepEqual(await ending(`/v1/sessions/${foreign}`, others[0]), [404, undefined], 'it is of another key');
  assert.deepEqual(await ending(`/v1/sessions/${id}`, others[0]), [200, 1]);
  assert.deepEqual([await status(others[0]), await status(others[1])], [200, 401]);
  assert.deepEqual(await ending('/v1/sessions', second), [200, 1]);
  assert.deepEqual([await status(others[0]), await status(headers)], [401, 200]);
});

test('an admin lists the sessions of all keys and ends them, and the audit log has it', async () => {
  const { app, headers, others, status } = await sessionsOfTwo('operator');
  const { sessions } = (await app.inject({ url: '/v1/sessions?of=all', headers })).json();
  assert.equal(sessions.length, 3);
  const { id } = sessions.find(({ key_name }: { key_name: string }) => key_name === 'second');
  await app.inject({ method: 'DELETE', url: `/v1/sessions/${id}`, headers });
  const answer = await app.inject({ method: 'DELETE', url: '/v1/sessions?of=all', headers });
  assert.deepEqual(answer.json(), { ended: 2 });
  for (const session of [headers, ...others]) assert.equal(await status(session), 401);
  const { events } = (await app.inject({ url: '/v1/audit', headers: AUTHORIZED })).json();
  const shown = events.filter(({ action }: { action: string }) => action === 'sessions-ended');
  const actual = shown.map(({ subject, detail }: { subject: string; detail: object }) => [subject, detail]);
  assert.deepEqual(actual, [
    ['*', { sessions: 2 }],
    [id, { sessions: 1 }],
  ]);
});
