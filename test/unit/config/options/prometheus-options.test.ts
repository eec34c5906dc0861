import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeConfig } from '../../../../src/config/describe.ts';
import { load, problemsOf } from '../../../fixture/configuration.ts';

const URL_SET = { REMOTE_WRITE_URL: 'https://metrics.example/api/v1/write?token=of-the-url' };
const SECRETS = {
  REMOTE_WRITE_AUTHORIZATION: 'Bearer of-the-header',
  REMOTE_WRITE_HEADERS: 'X-Scope-OrgID=team, X-Key=of-headers',
};

test('where bands are written is read with its secrets, which no description has', () => {
  const loaded = load({ env: { ...URL_SET, ...SECRETS }, flags: { 'remote-write-series': '{job="node"}' } });
  assert.ok(loaded.kind === 'config');
  assert.deepEqual(loaded.config.remoteWrite, {
    url: URL_SET.REMOTE_WRITE_URL,
    authorization: 'Bearer of-the-header',
    headers: { 'X-Scope-OrgID': 'team', 'X-Key': 'of-headers' },
    series: '{job="node"}',
  });
  const described = JSON.stringify(describeConfig(loaded.config));
  assert.match(described, /metrics\.example/);
  assert.doesNotMatch(described, /of-the-url|of-the-header|of-headers/);
});

test('a secret without a URL, a header that is none and matchers that are none are problems, without secrets', () => {
  assert.match(
    problemsOf(load({ env: SECRETS })).join('\n'),
    /REMOTE_WRITE_URL must be set, because REMOTE_WRITE_AUTHORIZATION is/,
  );
  for (const headers of ['no pair of-headers', 'Host=of-headers', 'Content-Type=of-headers']) {
    const [problem] = problemsOf(load({ env: { ...URL_SET, REMOTE_WRITE_HEADERS: headers } }));
    assert.match(problem, /^REMOTE_WRITE_HEADERS must be NAME=VALUE, separated by commas/);
    assert.doesNotMatch(problem, /of-headers/);
  }
  const [problem] = problemsOf(load({ env: { SCORES_SERIES: '{job=}' } }));
  assert.match(problem, /SCORES_SERIES must be/);
});

test('without settings nothing is written, and no scores are scraped', () => {
  const loaded = load({});
  assert.ok(loaded.kind === 'config');
  const { remoteWrite, scores } = loaded.config;
  assert.deepEqual(
    { remoteWrite, scores },
    { remoteWrite: null, scores: { port: null, series: null, seriesMax: 1_000 } },
  );
});
