/** To an identity provider, and back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoginResult } from '../../../src/api/accounts/sign-in/identity-provider.ts';
import { LOGIN_MS_MAX } from '../../../src/api/http/routes/access/console-routes.ts';
import { consoleFiles } from '../../../src/console/page-files.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';

const HEADERS = { host: 'watch.example:8080' };
const LOGIN = { state: 'the-state', nonce: 'the-nonce', verifier: 'the-verifier' };
const ADA = { id: 'ada', name: 'ada@example.com', role: 'operator', expiresAtMs: 1_000 } as const;
const RETURN = '/console/login/return?code=c&state=the-state';

/** A service whose provider lets everybody in, unless it is given the outcome of a sign-in. */
async function service(result: LoginResult = { kind: 'person', person: ADA }) {
  let nowMs = 0;
  const returned: string[] = [];
  const identity = {
    host: 'id.example',
    async begin(returnTo: string) {
      returned.push(returnTo);
      return { url: 'https://id.example/authorize', login: LOGIN };
    },
    finish: async () => result,
  };
  const app = await startApp(undefined, {
    consolePage: consoleFiles(),
    identity,
    key: { role: 'admin' },
    nowMs: () => nowMs,
  });
  const get = (url: string, cookie = '') => app.inject({ url, headers: { ...HEADERS, cookie } });
  /** Leaves for the provider. */
  const leave = async (to = '') => {
    const answer = await get(`/console/login?to=${encodeURIComponent(to)}`);
    const [{ name, value, ...attributes }] = answer.cookies;
    return { answer, attributes, cookie: `${name}=${value}` };
  };
  const wait = (ms: number) => {
    nowMs += ms;
  };
  return { app, get, leave, returned, wait };
}

test('a browser leaves with a cookie of ten minutes, and comes back to a session at the place where it was', async () => {
  const { get, leave, returned, wait } = await service();
  const { answer, attributes, cookie } = await leave('#/events/a?do=mute');
  assert.deepEqual([answer.statusCode, answer.headers.location], [302, 'https://id.example/authorize']);
  assert.deepEqual(returned, ['http://watch.example:8080/console/login/return']);
  assert.deepEqual(attributes, {
    httpOnly: true,
    sameSite: 'Lax',
    path: '/console/login',
    maxAge: LOGIN_MS_MAX / 1_000,
  });
  const back = await get(RETURN, cookie);
  assert.deepEqual([back.statusCode, back.headers.location], [302, '/console#/events/a?do=mute']);
  const [dropped, session] = back.cookies;
  assert.deepEqual([dropped.name, dropped.value, session.sameSite], ['tidewatch-login', '', 'Strict']);
  const known = async () => (await get('/console/session', `${session.name}=${session.value}`)).json();
  assert.deepEqual(await known(), { session: { name: ADA.name, role: ADA.role }, provider: 'id.example' });
  wait(ADA.expiresAtMs);
  assert.equal((await known()).session, null, 'it has expired');
});

test('an answer that this browser did not wait for begins no session', async () => {
  const { get, leave } = await service();
  const { cookie } = await leave();
  const forged = Buffer.from(JSON.stringify({ state: 'the-state' })).toString('base64url');
  for (const [url, sent] of [
    [RETURN, ''],
    [RETURN.replace('the-state', 'another'), cookie],
    ['/console/login/return?code=c', cookie],
    [RETURN, 'tidewatch-login=nonsense'],
    [RETURN, `tidewatch-login=${forged}`],
  ]) {
    const answer = await get(url, sent);
    assert.equal(answer.headers.location, '/console#/sign-in-refused/unfinished', url);
    assert.ok(answer.cookies.every(({ name }) => name !== 'tidewatch-session'));
  }
});

test('a refusal leads to the page with the reason', async () => {
  for (const reason of ['declined', 'provider', 'no-role'] as const) {
    const { get, leave } = await service({ kind: 'refused', reason, detail: '' });
    const { headers, cookies } = await get(RETURN, (await leave()).cookie);
    assert.equal(headers.location, `/console#/sign-in-refused/${reason}`);
    assert.ok(cookies.every(({ name }) => name !== 'tidewatch-session'));
  }
});

test('a person whose key an admin revoked is refused, and the session ends with the key', async () => {
  const { app, get, leave } = await service();
  const { cookies } = await get(RETURN, (await leave()).cookie);
  const session = `tidewatch-session=${cookies.at(-1)?.value}`;
  assert.equal((await get('/usage', session)).statusCode, 200);
  await app.inject({ method: 'POST', url: `/v1/keys/${ADA.id}/revoke`, headers: AUTHORIZED });
  assert.equal((await get('/usage', session)).statusCode, 401);
  const again = await get(RETURN, (await leave()).cookie);
  assert.equal(again.headers.location, '/console#/sign-in-refused/revoked');
});

test('whoever returns is led to the console and nowhere else', async () => {
  const { get, leave } = await service();
  for (const to of ['https://evil.example', '//evil.example', '.evil.example', '#/a\r\nset-cookie: x=y']) {
    const { headers } = await get(RETURN, (await leave(to)).cookie);
    assert.equal(headers.location, '/console', to);
  }
  assert.equal((await get(`/console/login?to=${'a'.repeat(2_000)}`)).statusCode, 422);
});

test('without a provider there is nothing to sign in at', async () => {
  const app = await startApp(undefined, { consolePage: consoleFiles() });
  for (const url of ['/console/login', RETURN]) assert.equal((await app.inject({ url })).statusCode, 404);
});
