/** The alert rules, by the tool that comes with Prometheus. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { debianProgram } from '../../fixture/debian-program.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { alertRules } from '../../fixture/monitoring.ts';

const RULES = fileURLToPath(new URL('../../../deploy/monitoring/rules.yaml', import.meta.url));
const found = await debianProgram('prometheus', ['promtool']);
const suffix = found.kind === 'none' ? ` (skipped: ${found.why})` : '';

/** Series of an hour, a sample a minute, in the notation of promtool. */
type Series = Readonly<Record<string, string>>;
const steady = (value: number) => `${value}x60`;
const growing = (by: number) => `0+${by}x60`;

const CASES: Readonly<Record<string, { readonly ill: Series; readonly well: Series }>> = {
  TidewatchAway: {
    ill: { 'up{job="tidewatch"}': steady(0) },
    well: { 'up{job="tidewatch"}': steady(1), 'up{job="x"}': steady(0) },
  },
  TidewatchKafkaAway: {
    ill: { tidewatch_broker_connected: steady(0) },
    well: { tidewatch_broker_connected: steady(1) },
  },
  TidewatchLag: {
    ill: { 'tidewatch_lag_records{partition="0"}': steady(20_000) },
    well: { 'tidewatch_lag_records{partition="0"}': '20000x49 0x10' },
  },
  TidewatchPartitionRetries: {
    ill: { tidewatch_partition_retries_total: growing(1) },
    well: { tidewatch_partition_retries_total: steady(40) },
  },
  TidewatchRecordsLost: {
    ill: { tidewatch_skipped_offsets_total: '0x30 9x29' },
    well: { tidewatch_skipped_offsets_total: steady(9) },
  },
  TidewatchDeadLetters: {
    ill: { 'tidewatch_dead_letters_total{reason="late"}': growing(10), tidewatch_records_consumed_total: growing(100) },
    well: { 'tidewatch_dead_letters_total{reason="late"}': growing(1), tidewatch_records_consumed_total: growing(100) },
  },
  TidewatchSettingsDoNotFit: {
    ill: { 'tidewatch_input_findings{kind="step"}': steady(1) },
    well: { 'tidewatch_input_findings{kind="step"}': '1x49 0x10' },
  },
  TidewatchInputStopped: {
    ill: { tidewatch_input_stopped_seconds: '0x30 400+60x29' },
    well: { tidewatch_input_stopped_seconds: steady(0) },
  },
  TidewatchHistoryStalled: {
    ill: { tidewatch_history_stalled: steady(1) },
    well: { tidewatch_history_stalled: steady(0) },
  },
  TidewatchHttpErrors: {
    ill: {
      'tidewatch_http_requests_total{status="503"}': growing(10),
      'tidewatch_http_requests_total{status="200"}': growing(90),
    },
    well: {
      'tidewatch_http_requests_total{status="404"}': growing(10),
      'tidewatch_http_requests_total{status="200"}': growing(90),
    },
  },
  TidewatchJobsWait: {
    ill: { tidewatch_job_oldest_pending_seconds: growing(60) },
    well: { tidewatch_job_oldest_pending_seconds: steady(9) },
  },
  TidewatchAlertsWait: {
    ill: { 'tidewatch_alert_queue_notifications{receiver="mine"}': steady(1) },
    well: { 'tidewatch_alert_queue_notifications{receiver="mine"}': '1x50 0x1 1x9' },
  },
  TidewatchAlertsGivenUp: {
    ill: { tidewatch_alert_dead_letters: steady(1) },
    well: { tidewatch_alert_dead_letters: steady(0) },
  },
  TidewatchSourceBehind: {
    ill: { 'tidewatch_source_behind_seconds{source="load"}': steady(1_000) },
    well: { 'tidewatch_source_behind_seconds{source="load"}': '1000x49 0x10' },
  },
  TidewatchBandsStalled: {
    ill: { tidewatch_remote_write_stalled: steady(1) },
    well: { tidewatch_remote_write_stalled: '1x50 0x9' },
  },
  TidewatchScoresLeftOut: {
    ill: { 'tidewatch_scores_left_out{what="series"}': steady(3) },
    well: { 'tidewatch_scores_left_out{what="series"}': steady(0) },
  },
  TidewatchOpenEvent: {
    ill: { 'tidewatch_open_event{kind="spike"}': '1x60' },
    well: { 'tidewatch_open_event{kind="spike"}': '1x40' },
  },
};

async function promtool(...args: readonly string[]): Promise<string> {
  if (found.kind === 'none') throw new Error(found.why);
  const [program, ...before] = found.command;
  const { stdout, stderr } = await promisify(execFile)(program, [...before, ...args]).catch((error) => error);
  return `${stdout}${stderr}`;
}

test('every rule has a case', () => {
  const alerts = alertRules().map(({ alert }) => alert);
  assert.deepEqual(alerts, Object.keys(CASES));
});

test(`each rule fires on an hour of what it is for, and not on an hour of what is well${suffix}`, {
  skip: found.kind === 'none',
}, async () => {
  assert.match(await promtool('check', 'rules', RULES), new RegExp(`SUCCESS: ${alertRules().length} rules found`));
  const tests = Object.entries(CASES).flatMap(([alertname, { ill, well }]) =>
    [ill, well].map((series, i) => ({
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        {
          expr: `count by (alertname) (ALERTS{alertstate="firing"})`,
          eval_time: '1h',
          exp_samples: i === 0 ? [{ labels: `{alertname="${alertname}"}`, value: 1 }] : [],
        },
      ],
    })),
  );
  const file = join(freshFolder(), 'tests.yaml');
  await writeFile(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));
  assert.match(await promtool('test', 'rules', file), /^\s*Unit Testing:[^\n]*\n\s*SUCCESS\s*$/);
});
