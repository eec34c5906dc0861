import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  boundedLabel,
  collectForecasts,
  collectService,
  createMetrics,
  forgetPartition,
} from '../../../src/ops/metrics.ts';

test('every metric has the prefix, its unit last, and a help text', async () => {
  const { registry } = createMetrics({ collectProcess: false });
  collectForecasts({ registry }, () => ({ rowsWaiting: 0, runs: 0, forecasts: 0, runMs: 0, cpuMs: 0 }));
  collectService({ registry }, async () => ({ jobsPending: 0, jobsRunning: 0, oldestPendingMs: 0, bodyBytes: 0 }));
  for (const { name, help, type } of await registry.getMetricsAsJSON()) {
    assert.match(name, /^tidewatch_[a-z_]+$/);
    assert.equal(name.endsWith('_total'), String(type) === 'counter', name);
    assert.ok(help.length > 0, name);
  }
});

test('metrics of the process named _total are counters, as linters of the exposition expect', async () => {
  const all = await createMetrics({ collectProcess: true }).registry.getMetricsAsJSON();
  assert.ok(all.some(({ name }) => name === 'process_cpu_seconds_total'));
  const gauges = all.filter(({ name, type }) => name.endsWith('_total') && String(type) !== 'counter');
  assert.deepEqual(gauges, []);
});

test('two registries do not share values', async () => {
  const [first, second] = [createMetrics({ collectProcess: false }), createMetrics({ collectProcess: false })];
  first.anomalies.inc(2);
  assert.match(await first.registry.metrics(), /^tidewatch_anomalies_total 2$/m);
  assert.match(await second.registry.metrics(), /^tidewatch_anomalies_total 0$/m);
});

test('a revoked partition is no longer reported, the others are', async () => {
  const metrics = createMetrics({ collectProcess: false });
  for (const partition of [0, 1]) {
    metrics.unitsHeld.set({ partition }, 5);
    metrics.queueRecords.set({ partition }, 6);
  }
  forgetPartition(metrics, 0);
  const text = await metrics.registry.metrics();
  assert.doesNotMatch(text, /partition="0"/);
  assert.match(text, /^tidewatch_units_held\{partition="1"\} 5$/m);
});

test('forecast sums are read at each scrape', async () => {
  const { registry } = createMetrics({ collectProcess: false });
  let runs = 2;
  collectForecasts({ registry }, () => ({ rowsWaiting: 3, runs, forecasts: 64, runMs: 1_500, cpuMs: 1_250 }));
  assert.match(await registry.metrics(), /^tidewatch_forecast_runs_total 2$/m);
  runs = 5;
  const text = await registry.metrics();
  for (const line of [
    'runs_total 5',
    'rows_total 64',
    'run_seconds_total 1.5',
    'cpu_seconds_total 1.25',
    'rows_waiting 3',
  ]) {
    assert.ok(text.includes(`\ntidewatch_forecast_${line}\n`), line);
  }
});

test('the state of the service is read once a scrape, and is 0 while it cannot be read', async () => {
  const { registry } = createMetrics({ collectProcess: false });
  let [reads, away] = [0, false];
  collectService({ registry }, async () => {
    reads++;
    if (away) throw new Error('the store is away');
    return { jobsPending: 3, jobsRunning: 2, oldestPendingMs: 1_500, bodyBytes: 4_096 };
  });
  const text = await registry.metrics();
  assert.equal(reads, 1);
  for (const line of ['jobs_pending 3', 'jobs_running 2', 'job_oldest_pending_seconds 1.5', 'body_bytes 4096']) {
    assert.match(text, new RegExp(`^tidewatch_${line}$`, 'm'));
  }
  away = true;
  assert.match(await registry.metrics(), /^tidewatch_jobs_pending 0$/m);
});

test('a label has as many values as it may, and other', () => {
  const labelOf = boundedLabel(2);
  assert.deepEqual(['a', 'b', 'c', 'a', 'd'].map(labelOf), ['a', 'b', 'other', 'a', 'other']);
});
