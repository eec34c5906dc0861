import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalId, labelsOfId, seriesOfId, sortedLabels } from '../../../../src/records/series/series-id.ts';

test('an id is the name and the labels in their order, as PromQL shows a series', () => {
  const labels = sortedLabels([
    ['job', 'node'],
    ['instance', 'a:9100'],
    ['empty', ''],
  ]);
  assert.equal(canonicalId('up', labels), 'up{instance="a:9100",job="node"}');
  assert.equal(canonicalId('up', []), 'up');
  assert.equal(canonicalId('http.server', [['http.method', 'GET']]), 'http.server{http.method="GET"}');
});

test('names that would be ambiguous are quoted', () => {
  assert.equal(canonicalId('a{b', [['c', 'd']]), '{"a{b",c="d"}');
  assert.equal(canonicalId('a{b', []), '{"a{b"}');
  assert.equal(canonicalId('a', [['b=c,d', '"\\\n']]), 'a{"b=c,d"="\\"\\\\\\n"}');
});

test('the labels of an id have the name of the metric among them', () => {
  assert.deepEqual(labelsOfId('up{job="node"}'), { __name__: 'up', job: 'node' });
  assert.deepEqual(Object.entries(labelsOfId('up{__proto__="x"}')), [
    ['__name__', 'up'],
    ['__proto__', 'x'],
  ]);
});

test('labels in another order are taken', () => {
  assert.deepEqual(seriesOfId('up{job="node",instance="a"}'), seriesOfId('up{instance="a",job="node"}'));
  assert.deepEqual(seriesOfId('up{}'), { name: 'up', labels: [] });
});

test('what several series have in common has no name', () => {
  assert.equal(canonicalId('', [['job', 'node']]), '{job="node"}');
  assert.deepEqual(seriesOfId('{job="node"}'), { name: '', labels: [['job', 'node']] });
  assert.deepEqual(seriesOfId('{"a b"="c"}'), { name: '', labels: [['a b', 'c']] });
  assert.deepEqual(labelsOfId('{job="node"}'), { job: 'node' });
  assert.deepEqual(labelsOfId('{}'), {});
});

for (const id of [
  'plant/line-7',
  'a{b',
  'a{b}',
  'a{b=c}',
  'a{b="c"',
  'a{b="c",}',
  'a{b="c"d="e"}',
  'a{b="c\\x"}',
  'a{b="c",b="d"}',
  'a{__name__="b"}',
  'a{="b"}',
  '{"a"b="c"}',
  '{"a"',
  '"a"{b="c"}',
]) {
  test(`an id of another form is a name without labels: ${id}`, () => {
    assert.deepEqual(seriesOfId(id), { name: id, labels: [] });
  });
}
