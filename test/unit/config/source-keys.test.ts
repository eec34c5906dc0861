import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDetectorsFile } from '../../../src/config/detectors-file.ts';

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
  assert.deepEqual(
    sources?.map(({ stepMs, historyMs }) => [stepMs, historyMs]),
    [[60_000, 28 * 86_400_000]],
  );
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
