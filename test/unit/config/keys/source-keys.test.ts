import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeConfig } from '../../../../src/config/describe.ts';
import { readDetectorsFile } from '../../../../src/config/detectors-file.ts';
import { type ConfigSources, loadConfig } from '../../../../src/config/load.ts';

const DETECTORS = 'detectors: [{ name: all, series: "*", freq: min, h: 4, detection_size: 4 }]\n';

function read(source: string) {
  const problems: string[] = [];
  const file = readDetectorsFile('d', `${source}\n${DETECTORS}`, problems);
  return { sources: file?.sources, problems };
}

test('a source is a query with a step, or a list of such with a name each; history and delay have defaults', () => {
  const one = read('source: { prometheus: "http://10.0.0.1:9090", query: up, step: 1min }');
  const url = 'http://10.0.0.1:9090';
  const defaults = {
    name: 'prometheus',
    url,
    query: 'up',
    stepMs: 60_000,
    delayMs: 30_000,
    historyMs: 28 * 86_400_000,
    headers: {},
  };
  assert.deepEqual(one, { sources: [defaults], problems: [] });
  assert.deepEqual(read('').sources, []);
  const twice = read(
    `source: [{ prometheus: "${url}", query: a, step: 1s }, { prometheus: "${url}", query: b, step: 1s }]`,
  );
  assert.deepEqual(twice.problems, ['d:1: source must be a list whose entries have a name each, got "prometheus"']);
});

test('durations may be written as Prometheus writes them: 1m, 4w', () => {
  const { sources, problems } = read(
    'source: { prometheus: "http://10.0.0.1:9090", query: up, step: 1m, history: 4w }',
  );
  assert.deepEqual(problems, []);
  const spans = sources?.map(({ stepMs, historyMs }) => [stepMs, historyMs]);
  assert.deepEqual(spans, [[60_000, 28 * 86_400_000]]);
});

test('every problem of a source names its key, and none repeats a password', () => {
  const { problems } = read('source: { prometheus: "http://me:secret@p:9090", step: 10ms, delay: 40d, qery: up }');
  assert.equal(problems.length, 5);
  for (const key of ['prometheus', 'query', 'step', 'delay', 'qery']) {
    assert.ok(
      problems.some((problem) => problem.includes(`source.${key} `)),
      key,
    );
  }
  assert.doesNotMatch(problems.join(), /secret/);
});

test('headers of a source name variables, which are read where they are required and appear in no text', () => {
  const source =
    'source: { name: a, prometheus: "http://p:9090", query: up, step: 1min, headers: { X-Scope-OrgID: TENANT } }';
  const load = (env: Record<string, string>, requires: ConfigSources['requires'] = ['sourceHeaders']) =>
    loadConfig({ flags: { detectors: 'd' }, env, readFile: () => `${source}\n${DETECTORS}`, processors: 1, requires });
  const env = {
    TENANT: 'team-a',
    PROMETHEUS_AUTHORIZATION: 'Bearer b',
    PROMETHEUS_HEADERS: 'X-Scope-OrgID=everyone,X-More=c',
  };
  const loaded = load(env);
  assert.ok(loaded.kind === 'config');
  const { config } = loaded;
  assert.deepEqual(config.prometheusHeaders, { authorization: 'Bearer b', 'x-scope-orgid': 'everyone', 'x-more': 'c' });
  assert.deepEqual(config.sourceHeaders.get('a'), { ...config.prometheusHeaders, 'x-scope-orgid': 'team-a' });
  assert.doesNotMatch(JSON.stringify(describeConfig(config)), /team-a|Bearer|everyone/);
  assert.equal(load({}, []).kind, 'config', 'a worker does not need them');
  for (const value of [undefined, 'two\nlines']) {
    const wrong = load(value === undefined ? {} : { TENANT: value });
    assert.deepEqual(wrong.kind === 'problems' && wrong.problems, [
      'source a: headers.X-Scope-OrgID must be the name of a variable that holds one line of printable ASCII, got "TENANT"',
    ]);
  }
  assert.match(
    read('source: { prometheus: "http://p:9090", query: up, step: 1m, headers: { "a b": X } }').problems[0],
    /header/,
  );
});
