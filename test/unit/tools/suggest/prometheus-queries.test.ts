import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queriesFor } from '../../../../src/tools/suggest/prometheus-queries.ts';
import { SeriesColumns } from '../../../../src/tools/suggest/series-columns.ts';

const DATA = { url: 'http://p:9090', match: '{job="node"}', step: '300s', window: '300s' };

function columnsOf(series: Readonly<Record<string, (i: number) => number>>): SeriesColumns {
  const columns = new SeriesColumns(10_000);
  for (const [id, value] of Object.entries(series)) for (let i = 0; i < 50; i++) columns.add(id, i * 1_000, value(i));
  return columns;
}

test('gauges are asked for as they are, each counter by its rate, and buckets not at all', () => {
  const { sources, columns, left } = queriesFor(
    columnsOf({
      'load{host="a"}': Math.sin,
      'jobs_total{host="a"}': (i) => 7 * (i % 30),
      'seconds_bucket{le="1"}': (i) => i,
    }),
    DATA,
  );
  const actual = sources.map(({ name, query }) => [name, query]);
  assert.deepEqual(actual, [
    ['gauges', '{job="node", __name__!~"jobs_total|seconds_bucket"}'],
    ['jobs_total.rate', 'rate({job="node", __name__="jobs_total"}[300s])'],
  ]);
  assert.deepEqual(left, ['seconds_bucket']);
  const found = new Map([...columns.all()].map(({ id, values }) => [id, values]));
  assert.deepEqual([...found.keys()].sort(), ['jobs_total.rate{host="a"}', 'load{host="a"}']);
  // The reset at 30 begins at 0.
  assert.deepEqual([...new Set(found.get('jobs_total.rate{host="a"}'))], [7, 0]);
});

test('without a counter the query is the matchers', () => {
  const { sources } = queriesFor(columnsOf({ load: Math.sin }), DATA);
  assert.deepEqual(sources, [{ name: 'gauges', url: DATA.url, query: '{job="node"}', step: '300s' }]);
});
