import type { SchemaSource } from '../../codecs/formats/schema-source.ts';
import { schemaHeadersOf } from '../../codecs/formats/wire-header.ts';
import type { KafkaConfig, StreamConfig } from '../../config/config.ts';
import type { WorkerLimits } from '../../config/options/options.ts';
import type { RekeyedInput } from '../../config/rekeyed-input.ts';
import type { EngineReports } from '../../engine/engine-reports.ts';
import { createKafkaLog } from '../../engine/log/kafka-log.ts';
import { RecordOrder } from '../../engine/record-order.ts';
import { startWorker, type Worker, type WorkerReports } from '../../engine/stream-worker.ts';
import { checkRepartition, deleteCommitted } from '../../engine/topics/repartition-topics.ts';
import type { LoadedDetector } from '../../engine/unit/loaded-detector.ts';
import { keyPartitioner } from '../../kafka/produce/key-partition.ts';
import type { Logger } from '../../ops/logger.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { meanStepMs } from '../../time/frequency.ts';
import { loggedConnection } from './logged-connection.ts';

/** Interval at which scored records are deleted; at an orderly end, too. */
const DELETE_EVERY_MS = 60_000;

/** Partitions may be apart by half of the smallest step, at most that of an hour. */
const ORDER_STEP_MS_MAX = 3_600_000;

interface RepartitionParts {
  readonly repartition: RekeyedInput;
  readonly kafka: KafkaConfig;
  readonly stream: StreamConfig;
  readonly limits: WorkerLimits;
  readonly detectors: readonly LoadedDetector[];
  readonly version: number;
  readonly schemas: SchemaSource | null;
  readonly partitions: number;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/**
 * Carries records from the input to the topic that is scored, keyed by series or group, exactly once: by the engine of
 * the scores, whose transactions write records instead of scores. Throws a ServiceError.
 */
export async function startRepartition(parts: RepartitionParts): Promise<Worker> {
  const { repartition, kafka, stream, limits, partitions, logger } = parts;
  const connection = loggedConnection(kafka, logger);
  await checkRepartition(connection, repartition);
  const { topic, topics, groupId } = repartition;
  const stepsMs = parts.detectors.map(({ config }) => meanStepMs(config.settings.freq));
  const order = new RecordOrder({ aheadMs: Math.min(...stepsMs, ORDER_STEP_MS_MAX) / 2, nowMs: Date.now });
  const log = createKafkaLog({
    ...connection,
    topics,
    groupId,
    instanceId: stream.groupInstanceId,
    sessionMs: limits.sessionMs,
    compression: stream.output.compression,
    headers: { names: schemaHeadersOf(stream.input.format), raw: true },
    spread: true,
    onFetch: ({ partition, ...report }) => order.fetched(partition, report),
  });
  const worker = await startWorker({
    log,
    stream: { ...stream, topics },
    limits,
    detectors: parts.detectors,
    version: parts.version,
    order,
    route: { topic, partitions, partitionOf: keyPartitioner(partitions) },
    encodeScore: nothing,
    encodeEvent: nothing,
    schemas: parts.schemas,
    reports: repartitionReports(parts),
    nowMs: Date.now,
  });
  const deleteScored = () =>
    deleteCommitted(connection, { groupId: stream.groupId, topic }).catch((err: unknown) =>
      logger.warn({ topic, err }, 'records that were scored could not be deleted'),
    );
  const timer = setInterval(() => void deleteScored(), DELETE_EVERY_MS);
  return {
    ...worker,
    async stop() {
      clearInterval(timer);
      await Promise.all([worker.stop(), deleteScored()]);
    },
  };
}

function nothing(): Buffer {
  return Buffer.alloc(0);
}

/** Partitions are those of the input, not those of the metrics of scores: only what is carried over is counted. */
function repartitionReports({ metrics, logger, stream }: RepartitionParts): EngineReports & WorkerReports {
  const ignore = () => {};
  const { format } = stream.input;
  return {
    assigned: (partitions) => logger.info({ partitions }, 'assigned, to be rekeyed'),
    connection(error) {
      if (error !== null) logger.warn({ err: error }, 'Kafka cannot be reached');
    },
    committed(_partition, { records }, tally) {
      metrics.recordsRepartitioned.inc(records);
      for (const [outcome, points] of Object.entries(tally.points)) {
        if (points > 0) metrics.pointsReceived.inc({ format, outcome }, points);
      }
      for (const [reason, letters] of Object.entries(tally.deadLetters)) metrics.deadLetters.inc({ reason }, letters);
    },
    retrying(partition, error, delayMs) {
      metrics.partitionRetries.inc();
      logger.warn({ partition, delayMs, err: error }, 'a partition of the input could not be rekeyed; it is retried');
    },
    stalled(partition, error) {
      if (error !== null) logger.warn({ partition, err: error }, 'the transaction of a partition makes no progress');
    },
    recordFailed(partition, offset, error) {
      logger.error({ partition, offset, err: error }, 'a record cannot be rekeyed and becomes a dead letter');
    },
    resumedFromState(partition, resume) {
      logger.warn({ partition, ...resume }, "the consumer group's offset is lost or older than what was rekeyed");
    },
    recordsSkipped(partition, { first, last }) {
      logger.warn({ partition, first, last }, "the consumer group's offset is ahead: these offsets are not rekeyed");
    },
    topicRecreated(partition) {
      logger.warn({ partition }, 'the input topic was recreated');
    },
    restoring: ignore,
    restored: ignore,
    holding: ignore,
    paused: ignore,
    fetched: ignore,
    fetchAnswered: ignore,
    settingsChanged: ignore,
    warmStarted: ignore,
    timesWithoutZone: ignore,
  };
}
