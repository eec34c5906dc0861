import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dependencies, MET_MAX } from '../../../../src/incidents/membership/dependencies.ts';
import { dimensionOf, partsOf, sharedContexts } from '../../../../src/incidents/membership/series-parts.ts';

const dependencies = new Dependencies([
  { labels: { service: 'web', env: 'prod' }, on: { service: 'db' } },
  { labels: { service: 'api' }, on: { __name__: 'pg_up' } },
]);
const contextsOf = (series: string, labels = {}) => sharedContexts(partsOf(series, { labels }));

test('a series matches a side by all of its labels, its own or those of its detector', () => {
  const met = (series: string, labels = {}) => dependencies.metBy(contextsOf(series, labels));
  assert.deepEqual(met('up{env="prod",service="web"}'), { dependent: [0], dependedOn: [] });
  assert.deepEqual(met('up{service="web"}', { env: 'prod' }), { dependent: [0], dependedOn: [] });
  assert.deepEqual(met('up{service="web"}'), { dependent: [], dependedOn: [] });
  assert.deepEqual(met('pg_up{service="db"}'), { dependent: [], dependedOn: [0, 1] });
  assert.deepEqual(met('pg_up'), { dependent: [], dependedOn: [] });
});

test('of a series the first hints count, in the order of the file', () => {
  const hints = Array.from({ length: 2 * MET_MAX }, (_, i) => ({
    labels: { service: `s${i}` },
    on: { service: 'db' },
  }));
  const { dependedOn } = new Dependencies(hints).metBy(contextsOf('up{service="db"}'));
  assert.deepEqual(dependedOn, [...Array(MET_MAX).keys()]);
});

test('both sides of a hint have a context in common, which is no dimension', () => {
  const hinted = (series: string) => dependencies.extended(contextsOf(series));
  const [web] = hinted('up{env="prod",service="web"}').slice(-1);
  assert.ok(hinted('up{service="db"}').includes(web));
  assert.equal(dimensionOf(web), null);
  assert.deepEqual(hinted('up{service="cart"}'), contextsOf('up{service="cart"}'));
});
