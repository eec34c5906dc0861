import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { chartSchema, offKeys } from '../generated/chart-schema.ts';
import { packageJson, read } from './project.ts';

const CHART = 'deploy/helm/tidewatch';

test('chart and book have the version of the package, and the chart a default for every value', () => {
  const chart = parse(read(`${CHART}/Chart.yaml`));
  const { version } = packageJson() as unknown as { readonly version: string };
  assert.deepEqual([chart.version, chart.appVersion], [version, version]);
  assert.match(read('deploy/book/running.md'), new RegExp(`/tidewatch-${version}\\.tgz`));
  assert.match(read('deploy/book/kubernetes.md'), new RegExp(`/tidewatch:${version} `));
  const { global: _, ...values } = chartSchema.properties as Readonly<Record<string, unknown>>;
  assert.deepEqual(Object.keys(parse(read(`${CHART}/values.yaml`))), Object.keys(values));
});

test('the chart writes off again for every key that takes it', () => {
  const [, keys] = /\(\?:([\w|]+)\): \)false/.exec(read(`${CHART}/templates/_helpers.tpl`)) ?? [];
  assert.deepEqual(keys?.split('|'), [...offKeys].toSorted());
});
