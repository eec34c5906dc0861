import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeConfig } from '../../../src/config/describe.ts';
import { load, loaded, problemsOf } from '../../fixture/configuration.ts';

const FILES = { 'secret.txt': 'from a file\n' };
const OAUTH = { KAFKA_BROKERS: 'a:9092', KAFKA_SASL_MECHANISM: 'oauthbearer' };
const ENDPOINT = { KAFKA_SASL_TOKEN_URL: 'https://issuer/token', KAFKA_SASL_CLIENT_ID: 'ada' };

test('tokens for SASL OAUTHBEARER come from an endpoint or a file', () => {
  const saslOf = (more: Record<string, string>) => {
    return loaded({ env: { ...OAUTH, KAFKA_SASL_EXTENSIONS: 'a=1, b=x-y', ...more }, files: FILES }).kafka?.sasl;
  };
  const extensions = { a: '1', b: 'x-y' };
  const client = { ...ENDPOINT, KAFKA_SASL_CLIENT_SECRET_FILE: 'secret.txt', KAFKA_SASL_SCOPE: 's' };
  assert.deepEqual(saslOf(client), {
    mechanism: 'oauthbearer',
    tokens: { url: 'https://issuer/token', clientId: 'ada', clientSecret: 'from a file', scope: 's' },
    extensions,
  });
  assert.deepEqual(saslOf({ KAFKA_SASL_TOKEN_FILE: 'secret.txt' }), {
    mechanism: 'oauthbearer',
    tokens: { file: 'secret.txt' },
    extensions,
  });
});

test('the description of a configuration hides the secret of the client', () => {
  const config = loaded({ env: { ...OAUTH, ...ENDPOINT, KAFKA_SASL_CLIENT_SECRET: 'swordfish' } });
  const described = JSON.stringify(describeConfig(config));
  assert.ok(!described.includes('swordfish') && described.includes('https://issuer/token'), described);
});

/** What is set, and the one sentence it must give. */
const WRONG: readonly (readonly [Record<string, string>, string | RegExp])[] = [
  [OAUTH, 'Set one of KAFKA_SASL_TOKEN_FILE and KAFKA_SASL_TOKEN_URL for oauthbearer'],
  [
    { ...OAUTH, ...ENDPOINT, KAFKA_SASL_CLIENT_SECRET: 's', KAFKA_SASL_MECHANISM: 'OAUTHBEARER' },
    'KAFKA_SASL_MECHANISM must be plain, scram-sha-256, scram-sha-512 or oauthbearer, got "OAUTHBEARER"',
  ],
  [
    { ...OAUTH, KAFKA_SASL_TOKEN_FILE: 'secret.txt', KAFKA_SASL_USERNAME: 'x' },
    'KAFKA_SASL_USERNAME is set, but belongs to the other mechanisms',
  ],
  [
    { ...OAUTH, KAFKA_SASL_TOKEN_FILE: 'secret.txt', KAFKA_SASL_SCOPE: 'x' },
    'KAFKA_SASL_SCOPE is set, but belongs to KAFKA_SASL_TOKEN_URL',
  ],
  [{ ...OAUTH, KAFKA_SASL_TOKEN_FILE: 'none' }, /^KAFKA_SASL_TOKEN_FILE must be the path of a readable file/],
  [
    { KAFKA_SASL_TOKEN_FILE: 'secret.txt' },
    /^--kafka-sasl-mechanism or KAFKA_SASL_MECHANISM must be .*oauthbearer, got nothing$/,
  ],
  [
    { ...OAUTH, KAFKA_SASL_TOKEN_URL: 'https://issuer', KAFKA_SASL_CLIENT_SECRET: 's' },
    /^KAFKA_SASL_CLIENT_ID must be set, because KAFKA_SASL_TOKEN_URL is/,
  ],
  [{ ...OAUTH, ...ENDPOINT }, /^KAFKA_SASL_CLIENT_SECRET must be set, because KAFKA_SASL_TOKEN_URL is/],
  [
    { ...OAUTH, ...ENDPOINT, KAFKA_SASL_CLIENT_SECRET: 's', KAFKA_SASL_TOKEN_URL: 'http://issuer/token' },
    /^KAFKA_SASL_TOKEN_URL must be an https URL, or an http URL of this machine/,
  ],
  [
    { ...OAUTH, KAFKA_SASL_TOKEN_FILE: 'secret.txt', KAFKA_SASL_EXTENSIONS: 'auth=x' },
    /^KAFKA_SASL_EXTENSIONS must be NAME=VALUE, separated by commas/,
  ],
];
for (const [env, sentence] of WRONG) {
  test(`${JSON.stringify(env)} gives one sentence`, () => {
    const problems = problemsOf(load({ env, files: FILES }));
    assert.equal(problems.length, 1, problems.join('\n'));
    if (typeof sentence === 'string') assert.equal(problems[0], sentence);
    else assert.match(problems[0], sentence);
  });
}
