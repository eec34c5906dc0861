import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const COMMIT_SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const COMMIT_RECORDS = [1, 10, 50, 100, 500, 1_000, 2_000, 5_000, 10_000];
const RESTORE_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const FORECAST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Every metric there is, in a registry of its own. Names stand here and nowhere else. None is labelled by series: their number is not ours
 * to bound. Looking a label up costs more than counting: on the way of every observation count first, then `inc(count)` once a batch.
 * @param collectProcess whether figures of the process (memory, processor, event loop) are collected too
 */
export function createMetrics({ collectProcess }: { readonly collectProcess: boolean }) {
  const registry = new Registry();
  if (collectProcess) collectDefaultMetrics({ register: registry });
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter<L>({ name: `tidewatch_${name}`, help, labelNames, registers: [registry] });
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge<L>({ name: `tidewatch_${name}`, help, labelNames, registers: [registry] });
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name: `tidewatch_${name}`, help, buckets, registers: [registry] });

  return {
    registry,
    // What becomes of input records.
    recordsConsumed: counter('records_consumed_total', 'Input records taken from Kafka'),
    scores: counter('scores_total', 'Scores by state', 'state'),
    anomalies: counter('anomalies_total', 'Scores flagged as anomalies'),
    deadLetters: counter('dead_letters_total', 'Input records set aside, by reason', 'reason'),
    lateObservations: counter('late_observations_total', 'Observations older than the newest of their series'),
    duplicateObservations: counter('duplicate_observations_total', 'Observations of a time step already seen, dropped'),
    gapStepsFilled: counter('gap_steps_filled_total', 'Missing grid steps filled with missing values'),
    seriesRestarts: counter('series_restarts_total', 'Series that started over, by reason', 'reason'),
    seriesEvictions: counter('series_evictions_total', 'Idle series evicted because there was no room'),
    // Transactions and state.
    commits: counter('commits_total', 'Transactions by result: committed or failed', 'result'),
    commitSeconds: histogram('commit_seconds', 'From the first write of a transaction to its end', COMMIT_SECONDS),
    commitRecords: histogram('commit_records', 'Input records in a transaction', COMMIT_RECORDS),
    changelogBytes: counter('changelog_bytes_total', 'Bytes of keys and values written to the changelog'),
    restoreSeconds: histogram('restore_seconds', 'From an assignment to restored state', RESTORE_SECONDS),
    // The life of the worker.
    brokerConnected: gauge('broker_connected', '1 while Kafka is in reach, else 0'),
    partitionsAssigned: gauge('partitions_assigned', 'Input partitions this worker owns'),
    partitionsPaused: gauge('partitions_paused', 'Input partitions paused because their queue is full'),
    seriesHeld: gauge('series_held', 'Series in memory', 'partition'),
    groupsHeld: gauge('groups_held', 'Groups in memory', 'partition'),
    queueRecords: gauge('queue_records', 'Input records that wait to be processed', 'partition'),
    consumerLagRecords: gauge('consumer_lag_records', 'Input records not yet consumed, where known', 'partition'),
    // Inference.
    forecastRuns: counter('forecast_runs_total', 'Runs of a model, each of one batch', 'model'),
    forecastRows: counter('forecast_rows_total', 'Forecasts made: rows of those batches', 'model'),
    forecastRunSeconds: histogram('forecast_run_seconds', 'Duration of one run of a model', FORECAST_SECONDS),
    forecastLatencySeconds: histogram('forecast_latency_seconds', 'From asking to having forecasts', FORECAST_SECONDS),
  };
}

/** A partition that is owned no more must not be reported with its last figures. */
export function forgetPartition(metrics: Metrics, partition: number): void {
  const { seriesHeld, groupsHeld, queueRecords, consumerLagRecords } = metrics;
  for (const gauge of [seriesHeld, groupsHeld, queueRecords, consumerLagRecords]) gauge.remove({ partition });
}
