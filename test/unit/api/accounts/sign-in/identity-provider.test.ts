import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import {
  CLOCK_SKEW_S,
  groupsOf,
  groupsText,
  IdentityProvider,
  type LoginResult,
  messagesOf,
  PROVIDER_BYTES_MAX,
  personName,
  roleOfGroups,
} from '../../../../../src/api/accounts/sign-in/identity-provider.ts';
import { type ForgedProvider, forgeProvider } from '../../../../fixture/identity/forged-provider.ts';

const CLIENT = { clientId: 'tidewatch', clientSecret: 'TheSecretOfTheClient' };
const RETURN = 'https://watch.example/console/login/return';
const SETTINGS = { ...CLIENT, scope: null, groupsClaim: 'groups', sessionMs: 1_000 };
const roles = new Map([['sre', 'operator'] as const]);
/** The client has the clock of this machine. */
const nowMs = Date.now;

let opened: ForgedProvider | null = null;
const provider = async () => {
  opened ??= await forgeProvider(CLIENT.clientId, nowMs);
  return opened;
};
after(() => opened?.stop());
beforeEach(async () => {
  Object.assign(await provider(), { claims: {}, metadata: {}, forges: false });
});

const identityOf = (issuer: string) => new IdentityProvider({ ...SETTINGS, issuer, roles }, nowMs);

/** A whole sign-in, whose ID token has these claims too, and whose answer is changed. */
async function signIn(claims: object = {}, { forges = false, query = {} } = {}): Promise<LoginResult> {
  const forged = await provider();
  const identity = identityOf(forged.issuer);
  const { login } = await identity.begin(RETURN);
  Object.assign(forged, { forges, claims: { nonce: login.nonce, groups: ['sre'], ...claims } });
  const search = new URLSearchParams({ code: 'the-code', state: login.state, ...query });
  return identity.finish(new URL(`${RETURN}?${search}`), login);
}

const refusal = (result: LoginResult) => (result.kind === 'refused' ? [result.reason, result.detail] : [result.kind]);

test('a sign-in asks with PKCE, state and nonce, and ends with a person of a role', async () => {
  const forged = await provider();
  const { url, login } = await identityOf(forged.issuer).begin(RETURN);
  const { origin, searchParams } = new URL(url);
  assert.equal(origin, forged.issuer);
  const actual = ['redirect_uri', 'state', 'nonce', 'code_challenge_method', 'response_type'].map((name) =>
    searchParams.get(name),
  );
  assert.deepEqual(actual, [RETURN, login.state, login.nonce, 'S256', 'code']);
  assert.equal(url.includes(login.verifier), false);
  const result = await signIn({ preferred_username: 'ada@example.com' });
  assert.ok(result.kind === 'person', JSON.stringify(result));
  assert.deepEqual([result.person.name, result.person.role], ['ada@example.com', 'operator']);
  const again = await signIn();
  assert.ok(again.kind === 'person' && again.person.id === result.person.id, 'the same person has the same key');
  const other = await signIn({ sub: 'grace' });
  assert.ok(other.kind === 'person' && other.person.id !== result.person.id);
  const { authorization, form } = forged.asked[0];
  assert.equal(authorization, `Basic ${Buffer.from(`${CLIENT.clientId}:${CLIENT.clientSecret}`).toString('base64')}`);
  assert.deepEqual([form.get('code'), form.get('redirect_uri')], ['the-code', RETURN]);
  assert.ok(form.get('code_verifier'));
});

test('the scope of the groups is requested if the provider lists it, and no scope is set', async () => {
  const forged = await provider();
  const requested = async (identity: IdentityProvider) => {
    return new URL((await identity.begin(RETURN)).url).searchParams.get('scope');
  };
  assert.equal(await requested(identityOf(forged.issuer)), 'openid profile email');
  forged.metadata = { scopes_supported: ['openid', 'email', 'groups', 'profile', 'offline_access'] };
  assert.equal(await requested(identityOf(forged.issuer)), 'openid profile email groups');
  const own = new IdentityProvider({ ...SETTINGS, issuer: forged.issuer, roles, scope: 'openid teams' }, nowMs);
  assert.equal(await requested(own), 'openid teams');
});

test('an answer that does not fit signs nobody in', async () => {
  const nowS = Math.floor(nowMs() / 1_000);
  const wrong: readonly [string, Promise<LoginResult>][] = [
    ['another nonce', signIn({ nonce: 'another' })],
    ['no nonce', signIn({ nonce: undefined })],
    ['another state', signIn({}, { query: { state: 'another' } })],
    ['another issuer', signIn({ iss: 'https://elsewhere.example' })],
    ['another audience', signIn({ aud: 'another-client' })],
    ['a foreign signature', signIn({}, { forges: true })],
    ['a token of an hour ago', signIn({ iat: nowS - 3_600, exp: nowS - 3_000 })],
    ['an error', signIn({}, { query: { error: 'server_error' } })],
  ];
  for (const [name, result] of wrong) assert.equal(refusal(await result)[0], 'provider', name);
  assert.equal(refusal(await signIn({}, { query: { error: 'access_denied' } }))[0], 'declined');
});

test(`clocks may differ by ${CLOCK_SKEW_S} s`, async () => {
  const nowS = Math.floor(nowMs() / 1_000);
  const expired = (agoS: number) => signIn({ iat: nowS - 600, exp: nowS - agoS });
  assert.equal((await expired(CLOCK_SKEW_S / 3)).kind, 'person');
  assert.equal(refusal(await expired(CLOCK_SKEW_S + 5))[0], 'provider');
});

test('who has no role is refused, and the log names their groups', async () => {
  assert.deepEqual(refusal(await signIn({ groups: ['staff'] })), ['no-role', 'ada: groups staff']);
  assert.deepEqual(refusal(await signIn({ groups: undefined })), ['no-role', 'ada: no claim groups']);
});

test(`no answer of a provider is read beyond ${PROVIDER_BYTES_MAX} bytes`, async () => {
  const forged = await provider();
  forged.metadata = { padding: 'x'.repeat(PROVIDER_BYTES_MAX / 2) };
  assert.equal((await signIn()).kind, 'person');
  forged.metadata = { padding: 'x'.repeat(PROVIDER_BYTES_MAX) };
  await assert.rejects(identityOf(forged.issuer).begin(RETURN), (error) => {
    return messagesOf(error).some((message) => message.includes(`more than ${PROVIDER_BYTES_MAX} bytes`));
  });
});

test('a provider that is away is no end: it is asked again, and no reason holds the secret', async () => {
  const nobody = identityOf('http://127.0.0.1:1');
  await assert.rejects(nobody.begin(RETURN));
  const login = { state: 's', nonce: 'n', verifier: 'v'.repeat(43) };
  const [reason, detail] = refusal(await nobody.finish(new URL(`${RETURN}?code=c&state=s`), login));
  assert.equal(reason, 'provider');
  assert.equal(detail.includes(CLIENT.clientSecret), false);
});

test('the highest role of the groups counts, and * is of everybody', () => {
  const roles = new Map([
    ['sre', 'operator'],
    ['cn=platform,ou=it', 'admin'],
  ] as const);
  assert.equal(roleOfGroups(['sre', 'cn=platform,ou=it', 'staff'], roles), 'admin');
  assert.equal(roleOfGroups(['sre'], roles), 'operator');
  assert.equal(roleOfGroups([], roles), null);
  assert.equal(roleOfGroups([], new Map([['*', 'viewer']])), 'viewer');
  assert.equal(roleOfGroups(['sre'], new Map([['*', 'viewer'], ...roles])), 'operator');
});

test('groups are a list of texts, or one text; anything else is none', () => {
  assert.deepEqual(groupsOf({ groups: ['a', 1, null, 'b'] }, 'groups'), ['a', 'b']);
  assert.deepEqual(groupsOf({ 'https://example.com/roles': 'a' }, 'https://example.com/roles'), ['a']);
  assert.deepEqual(groupsOf({ groups: { a: true } }, 'groups'), []);
  assert.deepEqual(groupsOf({}, 'groups'), []);
});

test('a person has the name of the first usual claim', () => {
  assert.equal(personName({ sub: '1', name: 'Ada', email: 'ada@example.com' }), 'ada@example.com');
  assert.equal(personName({ sub: '1', preferred_username: ' ' }), '1');
  assert.equal(personName({ sub: '1', name: 'a'.repeat(500) }).length, 100);
});

test('a name of a provider held NUL, which no Postgres takes, and escapes for the terminal of `keys list`', () => {
  assert.equal(personName({ sub: '1', preferred_username: 'a\0b\n\u001b[31mred\u202e' }), 'a b [31mred');
  assert.equal(personName({ sub: '1', preferred_username: '\u200b\0' }), '1');
  assert.equal(personName({ sub: '1', name: `${'a'.repeat(99)}😀😀` }), `${'a'.repeat(99)}😀`);
  assert.equal(personName({ sub: '' }), '?');
});

test('a refusal named thousands of groups in the log', () => {
  const groups = Array.from({ length: 5_000 }, (_, i) => `group-${i}`);
  assert.match(groupsText({ groups }, 'groups'), /^groups group-0, .*, group-19 and 4980 more$/);
  assert.equal(groupsText({ groups: ['a\nb', 'x'.repeat(500)] }, 'groups'), `groups a b, ${'x'.repeat(100)}`);
  assert.equal(groupsText({ groups: [] }, 'groups'), 'groups none');
  assert.equal(groupsText({ groups: { a: true } }, 'groups'), 'the claim groups is no list of texts');
  assert.equal(groupsText({}, 'groups'), 'no claim groups');
});
