import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf, sharedContexts } from '../../../../src/incidents/membership/series-parts.ts';

test('labels are dimensions, and the name of the metric is not one', () => {
  const parts = partsOf('up{host="a",job="node"}', { labels: { job: 'other', team: 'x' } });
  assert.equal(parts.metric, 'up');
  const dimensions = parts.dimensions.map(({ name, value }) => `${name}: ${value}`);
  assert.deepEqual(dimensions, ['host: host=a', 'job: job=node', 'team: team=x']);
});

test('a name without labels has its leading parts as dimensions, the deepest first', () => {
  const parts = partsOf('shop/cart/latency');
  assert.equal(parts.metric, 'latency');
  const values = parts.dimensions.map(({ value }) => value);
  assert.deepEqual(values, ['shop/cart', 'shop']);
});

test('separators in a row separate nothing, and a URL is one part', () => {
  const valuesOf = (series: string) => partsOf(series).dimensions.map(({ value }) => value);
  assert.deepEqual(valuesOf('https://sqs.example/queue/age'), ['https://sqs.example/queue']);
  assert.deepEqual(valuesOf('AWS::Lambda::Function/errors'), ['AWS::Lambda::Function']);
  assert.deepEqual(valuesOf('AWS::Lambda::Function'), []);
});

test('a name of one part has nothing in common but the labels of its detector', () => {
  assert.deepEqual(partsOf('latency'), { metric: null, dimensions: [] });
  assert.deepEqual(partsOf('latency', { labels: { team: 'x' } }).dimensions, [{ name: 'team', value: 'team=x' }]);
});

test('labels that the id hides are dimensions instead of the parts of its name, those of the series first', () => {
  const parts = partsOf('a/cpu', {
    labels: { job: 'other', team: 'x' },
    seriesLabels: { __name__: 'cpu', job: 'node' },
  });
  assert.equal(parts.metric, 'cpu');
  const values = parts.dimensions.map(({ value }) => value);
  assert.deepEqual(values, ['job=node', 'team=x']);
});

test('the same text in another dimension is another context', () => {
  const [one] = sharedContexts(partsOf('a/b'));
  const [other] = sharedContexts(partsOf('c/a/b'));
  assert.notEqual(one, other);
});
