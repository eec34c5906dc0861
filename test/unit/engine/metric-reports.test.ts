import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyTally } from '../../../src/engine/commit/tally.ts';
import { metricReports, timeForecasts } from '../../../src/engine/metric-reports.ts';
import { createLogger } from '../../../src/ops/logger.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';

function setUp() {
  const metrics = createMetrics({ collectProcess: false });
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line: string) => lines.push(line) });
  return { metrics, lines, reports: metricReports(metrics, logger) };
}

const COMMIT = { records: 1, seconds: 0.01, nextOffset: 10, newestEventMs: null, backfills: 0, diagnostics: null };

test('the outcomes of records are counted', async () => {
  const { metrics, reports } = setUp();
  const tally = {
    ...emptyTally(),
    deadLetters: { late: 2 },
    restarted: { gap: 1 },
    flagged: 3,
    alarms: 2,
    duplicates: 4,
    gapsFilled: 5,
  };
  tally.scored.scored = 90;
  tally.events.opened = 6;
  reports.committed(0, { ...COMMIT, records: 96 }, tally);
  reports.committed(1, { ...COMMIT, records: 4 }, emptyTally());
  const text = await metrics.registry.metrics();
  for (const line of [
    'records_consumed_total 100',
    'scores_total{state="scored"} 90',
    'dead_letters_total{reason="late"} 2',
    'series_restarts_total{reason="gap"} 1',
    'anomalies_total 3',
    'alarms_total 2',
    'events_total{type="opened"} 6',
    'duplicates_total 4',
    'gap_steps_filled_total 5',
  ]) {
    assert.ok(text.includes(`\ntidewatch_${line}\n`), line);
  }
});

test('the first dead letter of each reason is logged, with its place', () => {
  const { lines, reports } = setUp();
  const tally = emptyTally();
  tally.firstLetters.set('late', { offset: 7, detail: 'older than the newest' });
  for (const partition of [3, 4]) reports.committed(partition, COMMIT, tally);
  const logged = lines.map((line) => JSON.parse(line)).filter(({ reason }) => reason === 'late');
  const actual = logged.map(({ partition, offset, detail }) => ({ partition, offset, detail }));
  assert.deepEqual(actual, [{ partition: 3, offset: 7, detail: 'older than the newest' }]);
});

test('a revoked partition is not reported any more', async () => {
  const { metrics, reports } = setUp();
  reports.assigned([0, 1]);
  for (const partition of [0, 1]) {
    reports.holding(partition, { units: 5, queuedRecords: 6, deltaLogBytes: 7, stateBytes: 8 });
    reports.committed(partition, { ...COMMIT, newestEventMs: 1_000 }, emptyTally());
    reports.fetched(partition, 12);
    reports.restoring(partition, 0.5);
  }
  reports.assigned([1]);
  const text = await metrics.registry.metrics();
  assert.match(text, /^tidewatch_partitions_assigned 1$/m);
  assert.match(text, /^tidewatch_units_held\{partition="1"\} 5$/m);
  assert.doesNotMatch(text, /partition="0"/);
});

test('the lag of a partition is reported in records and in event time, after commits and fetches', async () => {
  const { metrics, reports } = setUp();
  reports.assigned([3]);
  reports.fetched(3, 100);
  reports.committed(3, { ...COMMIT, nextOffset: 70, newestEventMs: 1_735_689_600_000 }, emptyTally());
  const lagOf = async (line: string) => (await metrics.registry.metrics()).includes(`\ntidewatch_${line}\n`);
  assert.ok(await lagOf('lag_records{partition="3"} 30'));
  assert.ok(await lagOf('newest_event_time_seconds{partition="3"} 1735689600'));
  reports.fetched(3, 110);
  assert.ok(await lagOf('lag_records{partition="3"} 40'));
  reports.committed(3, { ...COMMIT, nextOffset: 110 }, emptyTally());
  assert.ok(await lagOf('lag_records{partition="3"} 0'));
});

test('assignments, lost connections, retries and changed settings are logged, batches are not', () => {
  const { lines, reports } = setUp();
  reports.committed(0, COMMIT, emptyTally());
  reports.holding(0, { units: 1, queuedRecords: 0, deltaLogBytes: 0, stateBytes: 0 });
  reports.restoring(0, 1);
  reports.fetched(0, 10);
  reports.fetchAnswered(0.1);
  reports.paused(0, true);
  assert.deepEqual(lines, []);
  reports.assigned([0]);
  reports.connection(new Error('ECONNREFUSED'));
  reports.retrying(0, new Error('fenced'), 100);
  reports.settingsChanged(0, 12);
  const actual = lines.map((line) => (JSON.parse(line) as { level: string }).level);
  assert.deepEqual(actual, ['info', 'warn', 'warn', 'info']);
});

test('the latency of a forecast is measured, and the forecast is unchanged', async () => {
  const { metrics } = setUp();
  const medians = new Float32Array([1, 2]);
  const limits = { context: 512, contextBuckets: [512], horizonMax: 24 };
  let nowMs = 0;
  const watermark = () => {
    nowMs += 250;
    return nowMs;
  };
  const timed = timeForecasts({ limits, forecast: async () => medians }, metrics, watermark);
  const batch = { rows: 1, contextLength: 512, values: new Float32Array(512), horizon: 2 };
  assert.equal(await timed.forecast(batch), medians);
  assert.equal(timed.limits, limits);
  assert.match(await metrics.registry.metrics(), /^tidewatch_forecast_latency_seconds_sum 0\.25$/m);
});
