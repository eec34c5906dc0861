import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Nesting } from '../../../../src/incidents/membership/nesting.ts';
import { partsOf, sharedContexts } from '../../../../src/incidents/membership/series-parts.ts';

function nestingOf(series: readonly string[]): Nesting {
  const nesting = new Nesting();
  for (const each of series) nesting.add(sharedContexts(partsOf(each)));
  return nesting;
}

test('hosts lie within data centres, so that data centres split a fleet', () => {
  const nesting = nestingOf(['a/h1/cpu', 'a/h2/cpu', 'b/h3/cpu']);
  assert.deepEqual(nesting.splits, ['depth 1', 'depth 0']);
  assert.ok(nesting.isWithin('depth 1', 'depth 0'));
  const [, within] = sharedContexts(partsOf('a/h1/cpu'));
  assert.deepEqual(nesting.dividing(within).splits, ['depth 1'], 'a data centre is split by its hosts alone');
});

test('a label that cuts across the others splits nothing', () => {
  const nesting = nestingOf([
    'cpu{host="1",zone="a"}',
    'cpu{host="1",zone="b"}',
    'cpu{host="2",zone="a"}',
    'cpu{host="3"}',
  ]);
  assert.ok(!nesting.isWithin('host', 'zone'));
  assert.deepEqual(nesting.splits, ['host']);
});
