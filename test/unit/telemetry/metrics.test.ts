import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics, forgetPartition } from '../../../src/telemetry/metrics.ts';

test('every name has the prefix, its unit last, and an explanation', async () => {
  const { registry } = createMetrics({ collectProcess: false });
  for (const { name, help, type } of await registry.getMetricsAsJSON()) {
    assert.match(name, /^tidewatch_[a-z_]+$/);
    assert.equal(name.endsWith('_total'), String(type) === 'counter', name);
    assert.ok(help.length > 0, name);
  }
});

test('two sets of metrics do not share figures', async () => {
  const [first, second] = [createMetrics({ collectProcess: false }), createMetrics({ collectProcess: false })];
  first.anomalies.inc(2);
  assert.match(await first.registry.metrics(), /^tidewatch_anomalies_total 2$/m);
  assert.match(await second.registry.metrics(), /^tidewatch_anomalies_total 0$/m);
});

test('a partition that is owned no more is not reported, the others are', async () => {
  const metrics = createMetrics({ collectProcess: false });
  for (const partition of [0, 1]) {
    metrics.seriesHeld.set({ partition }, 5);
    metrics.queueRecords.set({ partition }, 6);
  }
  forgetPartition(metrics, 0);
  const text = await metrics.registry.metrics();
  assert.doesNotMatch(text, /partition="0"/);
  assert.match(text, /^tidewatch_series_held\{partition="1"\} 5$/m);
});
