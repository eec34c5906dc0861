import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const COMMIT_SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const COMMIT_RECORDS = [1, 10, 50, 100, 500, 1_000, 2_000, 5_000, 10_000];
const RESTORE_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const STORE_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 20];
const JOB_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const TUNING_SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 180, 300];
const DELIVERY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const FORECAST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Gauges of the library that are named like counters, which linters of the exposition refuse. */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * All metrics, in a registry of their own. Names are defined here only. None has a label by series, because the number
 * of series is not bounded. A label lookup costs more than counting: per observation count first, then `inc(count)`
 * once a batch.
 * @param collectProcess whether process metrics (memory, processor, event loop) are collected, too
 */
export function createMetrics({ collectProcess }: { readonly collectProcess: boolean }) {
  const registry = new Registry();
  if (collectProcess) {
    collectDefaultMetrics({ register: registry });
    for (const name of MISNAMED) registry.removeSingleMetric(name);
  }
  const { counter, gauge, histogram } = makersOf(registry);
  const brokerConnected = gauge('broker_connected', '1 while Kafka is reachable, else 0');
  // A process without a connection to Kafka has no such gauge.
  brokerConnected.remove();
  return {
    registry,
    ...recordMetrics({ counter, gauge, histogram }),
    // State of the worker.
    brokerConnected,
    partitionsAssigned: gauge('partitions_assigned', 'Input partitions this worker owns'),
    partitionPaused: gauge('partition_paused', '1 while the partition waits for its queue to empty', 'partition'),
    queueRecords: gauge('queue_records', 'Input records that wait to be processed', 'partition'),
    // Points of metric pipelines.
    pointsReceived: counter('points_received_total', 'Points of metric pipelines, by outcome', 'format', 'outcome'),
    sourcePoints: counter('source_points_total', 'Points polled from Prometheus, by outcome', 'source', 'outcome'),
    sourceFailures: counter('source_failures_total', 'Queries of Prometheus that failed', 'source'),
    sourceBehindSeconds: gauge('source_behind_seconds', 'Lag of written points in event time', 'source'),
    // The HTTP interface.
    httpRequests: counter('http_requests_total', 'Requests answered, by route and status', 'route', 'status'),
    httpRequestSeconds: histogram('http_request_seconds', 'Duration of a request', REQUEST_SECONDS, 'route'),
    tokens: counter('tokens_total', 'Tokens of answered calls by key; other after a hundred keys', 'key'),
    storeSeconds: histogram('store_seconds', 'Duration of statements and transactions', STORE_SECONDS, 'operation'),
    // Jobs that this process ran; see also collectService().
    jobs: counter('jobs_total', 'Jobs that ended in this process, by task and outcome', 'task', 'outcome'),
    jobAttempts: counter('job_attempts_total', 'Attempts of this process to run a job, by task', 'task'),
    jobSeconds: histogram('job_seconds', 'Duration of a run of a job, by task', JOB_SECONDS, 'task'),
    // The history.
    historyScores: counter('history_scores_total', 'Scores stored in the history'),
    historyStalled: gauge('history_stalled', '1 while nothing can be added to the history, else 0'),
    // Fine-tunings, including those of jobs. One that waits for its child process counts as running.
    tunings: counter('tunings_total', 'Fine-tunings that ended, by outcome', 'outcome'),
    tuningSteps: counter('tuning_steps_total', 'Steps of fine-tunings'),
    tuningSeconds: histogram('tuning_seconds', 'Duration of a fine-tuning, without waiting', TUNING_SECONDS),
    tuningsRunning: gauge('tunings_running', 'Fine-tunings in progress'),
    tuningsWaiting: gauge('tunings_waiting', 'Waiting fine-tunings'),
    // Alerts: from events to receivers.
    alertEvents: counter('alert_events_total', 'Events that the alerts have read, by type', 'type'),
    alertIncidents: counter('alert_incidents_total', 'Incidents that the alerts have read, by type', 'type'),
    alertsSuppressed: counter('alerts_suppressed_total', 'Events not sent at once, or not at all, by reason', 'reason'),
    alertDeliveries: counter('alert_deliveries_total', 'Attempts to deliver, by outcome', 'receiver', 'outcome'),
    alertDeliverySeconds: histogram('alert_delivery_seconds', 'Duration of an attempt to deliver', DELIVERY_SECONDS),
    // Incidents.
    incidentEvents: counter('incident_events_total', 'Events that the incidents have read, by type', 'type'),
    incidentRevisions: counter('incident_revisions_total', 'Revisions of incidents that were written', 'type', 'kind'),
    // Value bands to Prometheus.
    remoteWriteSamples: counter('remote_write_samples_total', 'Samples of value bands, by outcome', 'outcome'),
    remoteWriteStalled: gauge('remote_write_stalled', '1 while bands of a partition cannot be written, else 0'),
    // Inference; see also collectForecasts().
    forecastLatencySeconds: histogram('forecast_latency_seconds', 'Duration of a forecast request', FORECAST_SECONDS),
  };
}

function makersOf(registry: Registry) {
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter<L>({ ...named(name, help), labelNames, registers: [registry] });
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge<L>({ ...named(name, help), labelNames, registers: [registry] });
  const histogram = <L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) =>
    new Histogram<L>({ ...named(name, help), buckets, labelNames, registers: [registry] });

  return { counter, gauge, histogram };
}

function recordMetrics({ counter, gauge, histogram }: ReturnType<typeof makersOf>) {
  return {
    // Input records.
    recordsConsumed: counter('records_consumed_total', 'Input records processed'),
    recordsRepartitioned: counter('records_repartitioned_total', 'Input records that were rekeyed'),
    scores: counter('scores_total', 'Scores by state', 'state'),
    anomalies: counter('anomalies_total', 'Scores flagged as anomalies'),
    alarms: counter('alarms_total', 'Scores with an alarm'),
    anomalyEvents: counter('events_total', 'Records of events by type: opened, updated, closed', 'type'),
    deadLetters: counter('dead_letters_total', 'Dead letters by reason, late records included', 'reason'),
    skippedOffsets: counter('skipped_offsets_total', 'Input offsets that were lost or skipped'),
    skippedRanges: counter('skipped_ranges_total', 'Ranges of lost or skipped offsets, each with a dead letter'),
    duplicates: counter('duplicates_total', 'Observations dropped as duplicates of a time step'),
    gapStepsFilled: counter('gap_steps_filled_total', 'Missing time steps, filled with missing values'),
    withoutValue: counter('without_value_total', 'Records or steps without a value: NaN, tombstones, first points'),
    inputStoppedSeconds: gauge('input_stopped_seconds', 'Time since the last record if a live input stopped, else 0'),
    inputDiagnostics: gauge('input_findings', 'Settings that do not fit the input, by kind', 'kind'),
    detectorChanges: counter('detector_changes_total', 'Changes of the detectors, by outcome', 'outcome'),
    backfills: counter('series_backfilled_total', 'Series calibrated again on their kept values'),
    backfillsWaiting: gauge('backfills_waiting', 'Series and groups that wait to be calibrated again', 'partition'),
    seriesRestarts: counter('series_restarts_total', 'Series that started over, by reason', 'reason'),
    seriesWarmStarted: counter('series_warm_started_total', 'Series and groups that started with a history'),
    seriesMisplaced: counter('series_misplaced_total', 'Series that may be in several partitions, by reason', 'reason'),
    seriesForgotten: counter('series_forgotten_total', 'Series and groups dropped: idle, or to make room', 'reason'),
    lagRecords: gauge('lag_records', 'Input records between the committed offset and the end', 'partition'),
    newestEventTime: gauge('newest_event_time_seconds', 'Event time of the newest committed score, Unix', 'partition'),
    fetchSeconds: histogram('fetch_seconds', 'Duration of a fetch, including up to 0.1 s of waiting', COMMIT_SECONDS),
    // Transactions and state.
    commitSeconds: histogram('commit_seconds', 'Duration of a transaction', COMMIT_SECONDS),
    commitRecords: histogram('commit_records', 'Input records in a transaction', COMMIT_RECORDS),
    restoreSeconds: histogram('restore_seconds', 'Duration of restoring a partition', RESTORE_SECONDS),
    restoreProgress: gauge('restore_progress', 'Share of the changelog that a restore has read', 'partition'),
    partitionRetries: counter('partition_retries_total', 'Restores of a partition that discarded its state'),
    stateBytes: gauge('state_bytes', 'Memory of the series of a partition', 'partition'),
    unitsHeld: gauge('units_held', 'Series outside groups, and groups, in memory', 'partition'),
    deltaLogBytes: gauge('journal_bytes', 'Open states in the changelog, including replaced ones', 'partition'),
  };
}

/** Removes the gauges of a revoked partition. */
export function forgetPartition(metrics: Metrics, partition: number): void {
  const { unitsHeld, stateBytes, deltaLogBytes, partitionPaused, queueRecords } = metrics;
  const { lagRecords, newestEventTime, restoreProgress, backfillsWaiting } = metrics;
  const gauges = [unitsHeld, stateBytes, deltaLogBytes, partitionPaused, queueRecords];
  for (const gauge of [...gauges, lagRecords, newestEventTime, restoreProgress, backfillsWaiting])
    gauge.remove({ partition });
}

/** Registers the gauges of the incidents. `figures` is called at each scrape; null while another process has them. */
export function collectIncidents(
  { registry }: Pick<Metrics, 'registry'>,
  figures: () => { readonly open: number; readonly events: number } | null,
): void {
  const gauge = readGauges(registry, figures);
  gauge('incidents_open', 'Open incidents, including those of one event', (read) => read?.open ?? 0);
  gauge('incident_open_events', 'Events of open incidents', (read) => read?.events ?? 0);
}

function readGauges<F>(registry: Registry, read: () => F) {
  return (name: string, help: string, of: (figures: F) => number) =>
    new Gauge({
      ...named(name, help),
      registers: [registry],
      collect() {
        this.set(of(read()));
      },
    });
}

/** Registers the gauges of the alerts. `figures` is called at each scrape. */
export function collectAlerts({ registry }: Pick<Metrics, 'registry'>, figures: () => AlertGauges): void {
  const gauge = readGauges(registry, figures);
  gauge('alerts_open', 'Open events, counted once for each route', ({ open }) => open);
  gauge('alert_dead_letters', 'Notifications that failed and are kept', ({ deadLetters }) => deadLetters);
  new Gauge({
    ...named('alert_queue_notifications', 'Notifications that wait for their receiver'),
    labelNames: ['receiver'],
    registers: [registry],
    collect() {
      for (const [receiver, waiting] of figures().waiting) this.set({ receiver }, waiting);
    },
  });
}

const named = (name: string, help: string) => ({ name: `tidewatch_${name}`, help });

/** Gauges of scores. Their labels are those of the series that they are about. */
export const SCORE_GAUGES = {
  grade: named('grade', 'How unusual the newest observation is, 0 to 1'),
  expected: named('expected', 'Forecast of the newest observation'),
  lower: named('lower', 'Lower bound of the interval of the newest observation'),
  upper: named('upper', 'Upper bound of the interval of the newest observation'),
  scoredTime: named('scored_time_seconds', 'Event time of the newest observation, Unix'),
  openEvent: named('open_event', '1 while an event of a series, group or detector is open'),
  leftOut: named('scores_left_out', 'Series and open events omitted from a scrape'),
};

export interface AlertGauges {
  readonly open: number;
  readonly deadLetters: number;
  readonly waiting: ReadonlyMap<string, number>;
}

/** Sums since the start; `rowsWaiting` is current. */
export interface ForecastSums {
  readonly rowsWaiting: number;
  readonly runs: number;
  readonly forecasts: number;
  /** Wall-clock time of the runs, and processor time of the threads that make them; sums over threads. */
  readonly runMs: number;
  readonly cpuMs: number;
}

/** Registers the metrics of the inference threads. `sums` is called at each scrape. */
export function collectForecasts({ registry }: Pick<Metrics, 'registry'>, sums: () => ForecastSums): void {
  const total = (name: string, help: string, read: (sums: ForecastSums) => number) =>
    new Counter({
      ...named(name, help),
      registers: [registry],
      collect() {
        this.reset();
        this.inc(read(sums()));
      },
    });
  total('forecast_runs_total', 'Runs of the models, each of one batch', ({ runs }) => runs);
  total('forecast_rows_total', 'Forecasts', ({ forecasts }) => forecasts);
  total('forecast_run_seconds_total', 'Time of runs of the models, all threads', ({ runMs }) => runMs / 1_000);
  total('forecast_cpu_seconds_total', 'Processor time of the inference threads', ({ cpuMs }) => cpuMs / 1_000);
  const gauge = readGauges(registry, sums);
  gauge('forecast_rows_waiting', 'Forecasts that wait for an inference thread', ({ rowsWaiting }) => rowsWaiting);
}

/** Jobs of all replicas and memory of bodies, at a scrape. */
interface ServiceHoldings {
  readonly jobsPending: number;
  readonly jobsRunning: number;
  /** Time that the oldest pending job has waited; 0 when none waits. */
  readonly oldestPendingMs: number;
  readonly bodyBytes: number;
}

/** Registers the gauges of the HTTP service. `read` is called once a scrape; while it fails they are 0. */
export function collectService({ registry }: Pick<Metrics, 'registry'>, read: () => Promise<ServiceHoldings>): void {
  let reading: Promise<ServiceHoldings | null> | null = null;
  const shared = () => {
    reading ??= read()
      .catch(() => null)
      .finally(() => {
        reading = null;
      });
    return reading;
  };
  const gauge = (name: string, help: string, of: (state: ServiceHoldings) => number) =>
    new Gauge({
      ...named(name, help),
      registers: [registry],
      async collect() {
        const state = await shared();
        if (state === null) this.reset();
        else this.set(of(state));
      },
    });
  gauge('jobs_pending', 'Waiting jobs of all replicas', ({ jobsPending }) => jobsPending);
  gauge('jobs_running', 'Running jobs of all replicas', ({ jobsRunning }) => jobsRunning);
  gauge('job_oldest_pending_seconds', 'Age of the oldest waiting job', (state) => state.oldestPendingMs / 1_000);
  gauge('body_bytes', 'Memory of request bodies', ({ bodyBytes }) => bodyBytes);
}

/** The first names, as many as `namesMax`, are themselves; the others are `other`. Bounds the values of a label. */
export function boundedLabel(namesMax: number): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.size < namesMax) known.add(name);
    return known.has(name) ? name : 'other';
  };
}
