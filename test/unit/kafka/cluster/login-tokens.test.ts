import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointTokens } from '../../../../src/kafka/cluster/login-tokens.ts';
import { ServiceError } from '../../../../src/ops/service-error.ts';

const ENDPOINT = { url: 'https://issuer/token', clientId: 'ada', clientSecret: 'swordfish', scope: null };

/** Tokens of an endpoint that gives the answers one after the other, and then the last one again. */
function tokensFrom(answers: readonly (() => Response)[]) {
  const clock = { nowMs: 0, requests: 0 };
  const send = async () => answers[Math.min(clock.requests++, answers.length - 1)]();
  return { clock, tokens: endpointTokens(ENDPOINT, { nowMs: () => clock.nowMs, send }) };
}

const issue = (token: string, expiresIn?: number) => () =>
  Response.json({ access_token: token, ...(expiresIn !== undefined && { expires_in: expiresIn }) });
const refuse = (status: number) => () => Response.json({ error: 'invalid_client' }, { status });

test('a token is used for most of its lifetime, by all logins at once', async () => {
  const { clock, tokens } = tokensFrom([issue('one', 300), issue('two', 300)]);
  assert.deepEqual(await Promise.all([tokens.current(), tokens.current()]), ['one', 'one']);
  clock.nowMs = 239_000;
  assert.equal(await tokens.current(), 'one');
  clock.nowMs = 240_000;
  assert.equal(await tokens.current(), 'two');
  assert.equal(clock.requests, 2);
});

test('a token that is short-lived is renewed before kafkajs would log in again for each request', async () => {
  const { clock, tokens } = tokensFrom([issue('one', 30), issue('two', 30)]);
  await tokens.current();
  clock.nowMs = 15_000;
  assert.equal(await tokens.current(), 'two');
});

test('while the endpoint is away a token is used until it expires', async () => {
  const { clock, tokens } = tokensFrom([issue('one', 300), refuse(503)]);
  await tokens.current();
  clock.nowMs = 250_000;
  assert.equal(await tokens.current(), 'one');
  clock.nowMs = 300_000;
  await assert.rejects(tokens.current(), { code: 'broker-unavailable', retryable: true });
});

test('an endpoint that fails receives one request a second', async () => {
  const { clock, tokens } = tokensFrom([refuse(503)]);
  for (let i = 0; i < 5; i++) await assert.rejects(tokens.current());
  assert.equal(clock.requests, 1);
  clock.nowMs = 1_000;
  await assert.rejects(tokens.current());
  assert.equal(clock.requests, 2);
});

test('the lifetime is the claim exp if the answer has none', async () => {
  const jwt = `e30.${Buffer.from(JSON.stringify({ exp: 100 })).toString('base64url')}.`;
  const { clock, tokens } = tokensFrom([issue(jwt), issue('two')]);
  await tokens.current();
  clock.nowMs = 79_000;
  assert.equal(await tokens.current(), jwt);
  clock.nowMs = 80_000;
  assert.equal(await tokens.current(), 'two');
  clock.nowMs = 125_000;
  assert.equal(await tokens.current(), 'two');
  assert.equal(clock.requests, 3);
});

test('a refusal of the client is final, and shows no more than the code of the error', async () => {
  const { tokens } = tokensFrom([refuse(401)]);
  await assert.rejects(tokens.current(), (error: unknown) => {
    assert.ok(error instanceof ServiceError);
    assert.deepEqual([error.code, error.retryable], ['configuration', false]);
    assert.equal(error.message, 'Token endpoint https://issuer/token answered 401 (invalid_client)');
    return true;
  });
});

test('an answer without a token, or without an end, is an error', async () => {
  const long = () => new Response('x'.repeat(70_000));
  for (const answer of [issue('with space', 300), () => new Response('[]'), () => new Response(null), long]) {
    await assert.rejects(tokensFrom([answer]).tokens.current(), { code: 'broker-unavailable' });
  }
});

test('a token that was accepted before and is refused now is replaced once', async () => {
  const { tokens } = tokensFrom([issue('one', 300), issue('two', 300)]);
  const first = await tokens.current();
  tokens.accepted(first);
  assert.equal(tokens.refused(first), true, 'the next one may be accepted');
  const second = await tokens.current();
  assert.equal(second, 'two');
  assert.equal(tokens.refused(first), true, 'of a login that began before');
  assert.equal(tokens.refused(second), false, 'the settings are wrong');
});
