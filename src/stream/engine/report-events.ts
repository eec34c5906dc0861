import { type Forecaster, hasQuantiles, type QuantileForecaster } from '../../forecast/forecaster.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { forgetPartition, type Metrics } from '../../telemetry/metrics.ts';
import type { StreamEvents } from './stream-events.ts';
import type { WorkerEvents } from './stream-worker.ts';

/** Counts the events of the engine in metrics, and logs those that an operator should know. */
export function reportEvents(metrics: Metrics, logger: Logger): StreamEvents & WorkerEvents {
  let owned: readonly number[] = [];
  return {
    assigned(partitions) {
      for (const partition of owned) if (!partitions.includes(partition)) forgetPartition(metrics, partition);
      owned = partitions;
      metrics.partitionsAssigned.set(partitions.length);
      logger.info({ partitions }, 'assigned');
    },
    connection(error) {
      metrics.brokerConnected.set(error === null ? 1 : 0);
      if (error === null) logger.info('connected to Kafka');
      else logger.warn({ err: error }, 'Kafka is out of reach');
    },
    scored(_, records, tally) {
      metrics.recordsConsumed.inc(records);
      for (const [state, scores] of Object.entries(tally.scored)) metrics.scores.inc({ state }, scores);
      for (const [reason, letters] of Object.entries(tally.deadLetters)) metrics.deadLetters.inc({ reason }, letters);
      for (const [reason, restarts] of Object.entries(tally.restarted))
        metrics.seriesRestarts.inc({ reason }, restarts);
      metrics.anomalies.inc(tally.flagged);
      metrics.alarms.inc(tally.alarms);
      for (const [type, revisions] of Object.entries(tally.events)) metrics.anomalyEvents.inc({ type }, revisions);
      metrics.duplicates.inc(tally.duplicates);
      metrics.gapStepsFilled.inc(tally.gapsFilled);
      metrics.backfills.inc(tally.backfilled);
      metrics.skippedOffsets.inc(tally.skippedOffsets);
    },
    committed(_, { records, seconds }) {
      metrics.commitRecords.observe(records);
      metrics.commitSeconds.observe(seconds);
    },
    restored(partition, { units, seconds }) {
      metrics.restoreSeconds.observe(seconds);
      metrics.unitsHeld.set({ partition }, units);
      logger.info({ partition, units, seconds }, 'restored');
    },
    holding(partition, { units, queuedRecords, journalBytes }) {
      metrics.unitsHeld.set({ partition }, units);
      metrics.queueRecords.set({ partition }, queuedRecords);
      metrics.journalBytes.set({ partition }, journalBytes);
    },
    paused(partition, paused) {
      metrics.partitionPaused.set({ partition }, paused ? 1 : 0);
    },
    retrying(partition, error, delayMs) {
      metrics.partitionRetries.inc();
      logger.warn({ partition, delayMs, err: error }, 'the partition gave up its state and restores it');
    },
    recordFailed(partition, offset, error) {
      logger.error({ partition, offset, err: error }, 'a record cannot be scored and becomes a dead letter');
    },
    resumedFromState(partition, resume) {
      logger.warn({ partition, ...resume }, "the group's offset is lost or older than the state, which continues");
    },
    topicRecreated(partition, units) {
      logger.warn({ partition, units }, 'the input topic was created anew: these series and groups start over');
    },
    settingsChanged(partition, units) {
      logger.info(
        { partition, units },
        'settings or model changed: series calibrate again on what they kept, groups start over',
      );
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
