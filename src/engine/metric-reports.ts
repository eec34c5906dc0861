import { type Forecaster, hasQuantiles, type QuantileForecaster } from '../forecasting/forecaster.ts';
import type { Logger } from '../ops/logger.ts';
import { forgetPartition, type Metrics } from '../ops/metrics.ts';
import type { MisplacedSeries, Tally } from './commit/tally.ts';
import type { EngineReports } from './engine-reports.ts';
import { DiagnosticReport } from './report-diagnostics.ts';
import type { WorkerReports } from './stream-worker.ts';

/** Series that may be in several partitions and are named in the log; further ones are in the metric alone. */
const MISPLACED_LOGGED = 1_000;

/** Counts what the engine reports in metrics, and logs what an operator should know. */
export function metricReports(
  metrics: Metrics,
  logger: Logger,
): EngineReports & WorkerReports & { readonly diagnostics: DiagnosticReport } {
  let owned: readonly number[] = [];
  const lag = recordLag(metrics);
  const logTally = tallyLog(metrics, logger);
  const diagnostics = new DiagnosticReport(metrics, logger);
  const forget = (partition: number) => {
    diagnostics.forget(partition);
    forgetPartition(metrics, partition);
    lag.forget(partition);
  };
  return {
    diagnostics,
    assigned(partitions) {
      for (const partition of owned) if (!partitions.includes(partition)) forget(partition);
      owned = partitions;
      metrics.partitionsAssigned.set(partitions.length);
      logger.info({ partitions }, 'assigned');
    },
    connection(error) {
      metrics.brokerConnected.set(error === null ? 1 : 0);
      if (error === null) logger.info('connected to Kafka');
      else logger.warn({ err: error }, 'Kafka cannot be reached');
    },
    committed(partition, { records, seconds, nextOffset, newestEventMs, backfills, diagnostics: found }, tally) {
      if (found !== null) diagnostics.judged(partition, found);
      metrics.commitRecords.observe(records);
      metrics.commitSeconds.observe(seconds);
      lag.committed(partition, nextOffset);
      if (newestEventMs !== null) metrics.newestEventTime.set({ partition }, newestEventMs / 1_000);
      metrics.recordsConsumed.inc(records);
      countTally(metrics, tally);
      logTally(partition, tally);
      metrics.backfillsWaiting.set({ partition }, backfills);
    },
    fetched(partition, endOffset) {
      lag.fetched(partition, endOffset);
    },
    fetchAnswered(seconds) {
      metrics.fetchSeconds.observe(seconds);
    },
    restoring(partition, share) {
      metrics.restoreProgress.set({ partition }, share);
    },
    restored(partition, { units, seconds, backfills }) {
      metrics.restoreSeconds.observe(seconds);
      metrics.unitsHeld.set({ partition }, units);
      metrics.backfillsWaiting.set({ partition }, backfills);
      logger.info({ partition, units, seconds }, 'restored');
    },
    holding(partition, { units, queuedRecords, deltaLogBytes, stateBytes }) {
      metrics.unitsHeld.set({ partition }, units);
      metrics.queueRecords.set({ partition }, queuedRecords);
      metrics.deltaLogBytes.set({ partition }, deltaLogBytes);
      metrics.stateBytes.set({ partition }, stateBytes);
    },
    paused(partition, paused) {
      metrics.partitionPaused.set({ partition }, paused ? 1 : 0);
    },
    retrying(partition, error, delayMs) {
      metrics.partitionRetries.inc();
      logger.warn({ partition, delayMs, err: error }, 'the partition dropped its state and restores it');
    },
    stalled(partition, error) {
      if (error === null) logger.info({ partition }, 'transactions succeed again');
      else logger.warn({ partition, err: error }, 'the transaction of a partition makes no progress');
    },
    recordFailed(partition, offset, error) {
      logger.error({ partition, offset, err: error }, 'a record cannot be scored and becomes a dead letter');
    },
    resumedFromState(partition, resume) {
      logger.warn({ partition, ...resume }, "the consumer group's offset is lost or old: the state continues");
    },
    recordsSkipped(partition, { first, last }) {
      logger.warn({ partition, first, last }, "the consumer group's offset is ahead: these offsets are not scored");
    },
    topicRecreated(partition, units) {
      logger.warn({ partition, units }, 'the input or the changelog was recreated: these series start over');
    },
    warmStarted(partition, started) {
      metrics.seriesWarmStarted.inc(started.units);
      logger.info({ partition, ...started }, 'series start with a history');
    },
    timesWithoutZone() {
      logger.warn('times without a zone are read as UTC: set input.time_zone, or send them with their zone');
    },
    settingsChanged(partition, units) {
      logger.info(
        { partition, units },
        'settings or model changed: series calibrate again on the values that they kept, groups warm up again',
      );
    },
  };
}

function countTally(metrics: Metrics, tally: Tally): void {
  for (const [state, scores] of Object.entries(tally.scored)) metrics.scores.inc({ state }, scores);
  for (const [reason, letters] of Object.entries(tally.deadLetters)) metrics.deadLetters.inc({ reason }, letters);
  for (const [reason, restarts] of Object.entries(tally.restarted)) metrics.seriesRestarts.inc({ reason }, restarts);
  for (const [reason, units] of Object.entries(tally.forgotten)) metrics.seriesForgotten.inc({ reason }, units);
  metrics.anomalies.inc(tally.flagged);
  metrics.alarms.inc(tally.alarms);
  for (const [type, revisions] of Object.entries(tally.events)) metrics.anomalyEvents.inc({ type }, revisions);
  metrics.duplicates.inc(tally.duplicates);
  metrics.gapStepsFilled.inc(tally.gapsFilled);
  metrics.withoutValue.inc(tally.withoutValue);
  metrics.backfills.inc(tally.backfilled);
  metrics.skippedOffsets.inc(tally.skippedOffsets);
  metrics.skippedRanges.inc(tally.skippedRanges);
}

/** Logs the first dead letter of each reason, and misplaced series. */
function tallyLog(metrics: Metrics, logger: Logger) {
  const logMisplaced = misplacedReport(metrics, logger);
  const logged = new Set<string>();
  return (partition: number, { firstLetters, misplaced }: Tally) => {
    for (const found of misplaced) logMisplaced({ partition, ...found });
    for (const [reason, first] of firstLetters) {
      if (logged.has(reason)) continue;
      logged.add(reason);
      logger.warn({ partition, reason, ...first }, 'first dead letter of this reason: further ones are not logged');
    }
  };
}

function misplacedReport(metrics: Metrics, logger: Logger) {
  let misplaced = 0;
  return (found: MisplacedSeries & { readonly partition: number }) => {
    metrics.seriesMisplaced.inc({ reason: found.reason });
    if (++misplaced <= MISPLACED_LOGGED) logger.warn(found, 'a series may be in several partitions');
    if (misplaced === MISPLACED_LOGGED)
      logger.warn('further series that may be in several partitions are only counted');
  };
}

/** Offsets between the committed one of a partition and its end. */
function recordLag(metrics: Metrics) {
  const committedOffsets = new Map<number, number>();
  const endOffsets = new Map<number, number>();
  const set = (partition: number) => {
    const committed = committedOffsets.get(partition);
    const end = endOffsets.get(partition);
    if (committed !== undefined && end !== undefined)
      metrics.lagRecords.set({ partition }, Math.max(0, end - committed));
  };
  return {
    committed(partition: number, nextOffset: number) {
      committedOffsets.set(partition, nextOffset);
      set(partition);
    },
    fetched(partition: number, endOffset: number) {
      endOffsets.set(partition, endOffset);
      set(partition);
    },
    forget(partition: number) {
      committedOffsets.delete(partition);
      endOffsets.delete(partition);
    },
  };
}

/** Measures the latency of a forecaster. `nowMs` is a monotonic clock. */
export function timeForecasts(forecaster: Forecaster, metrics: Metrics, nowMs: () => number): Forecaster {
  const timed = async <T>(forecast: Promise<T>): Promise<T> => {
    const startedMs = nowMs();
    const made = await forecast;
    metrics.forecastLatencySeconds.observe((nowMs() - startedMs) / 1_000);
    return made;
  };
  const medians: Forecaster = {
    limits: forecaster.limits,
    forecast: (batch, signal) => timed(forecaster.forecast(batch, signal)),
  };
  if (!hasQuantiles(forecaster)) return medians;
  const withQuantiles: QuantileForecaster = {
    ...medians,
    forecastQuantiles: (batch, signal) => timed(forecaster.forecastQuantiles(batch, signal)),
  };
  return withQuantiles;
}
