import type { Config, KafkaConfig, LoadedConfig } from '../config/config.ts';
import { settingsDigest } from '../config/config.ts';
import { resolveConfig } from '../config/resolve.ts';
import { type ModelCatalog, openCatalog } from '../model/catalog.ts';
import { Forecasters } from '../model/forecaster.ts';
import { connectRegistry } from '../stream/codec/registry.ts';
import { createScoreEncoder } from '../stream/codec/score-encoder.ts';
import { createKafkaLog } from '../stream/kafka/kafka-log.ts';
import { checkTopics } from '../stream/kafka/topics.ts';
import { reportEvents, timeForecasts } from '../stream/report-events.ts';
import { FORECAST_ROWS_MAX } from '../stream/supply-forecasts.ts';
import { watchDetector } from '../stream/watched-detector.ts';
import { startWorker } from '../stream/worker.ts';
import type { Logger } from '../telemetry/logger.ts';
import { collectForecasts, createMetrics } from '../telemetry/metrics.ts';
import { startOpsServer } from '../telemetry/ops-server.ts';

export interface RunningWorker {
  readonly opsUrl: string;
  /** Empty when every assigned partition is being scored. */
  notReady(): string[];
  /** null after `stop`; an error when the worker cannot go on. */
  readonly finished: Promise<Error | null>;
  stop(): Promise<void>;
}

/**
 * Fills in what depends on the models, and opens them.
 * Throws ServiceError `model-invalid` for a damaged model folder.
 */
export async function resolveWithModels(loaded: LoadedConfig) {
  const catalog = await openCatalog({ modelsDir: loaded.modelsDir });
  const limits = new Map(
    [...catalog.names, ...catalog.aliases].map((name) => {
      const { context, horizonMax } = catalog.get(name).manifest;
      return [name, { context, horizonMax }];
    }),
  );
  return { catalog, result: resolveConfig(loaded, limits) };
}

/** The whole worker: models, inference threads, Kafka, operator's port. Throws a ServiceError for what stands in its way. */
export async function runWorker(
  config: Config & { readonly kafka: KafkaConfig },
  catalog: ModelCatalog,
  logger: Logger,
): Promise<RunningWorker> {
  const { stream, worker: limits, kafka } = config;
  await checkTopics({ config: kafka }, stream.topics);
  const registry = config.registry === null ? null : await connectRegistry(config.registry);
  const encodeScore = await createScoreEncoder(stream.output.format, {
    topic: stream.topics.scores,
    registrar: registry,
  });
  const models = stream.detectors.map(({ model }) => catalog.get(model));
  const log = createKafkaLog({
    config: kafka,
    log: (level, text, detail) => logger[level](detail ?? {}, text),
    topics: stream.topics,
    groupId: stream.groupId,
    sessionMs: limits.sessionMs,
  });
  const queueRowsMax = FORECAST_ROWS_MAX * (await log.partitionCount());
  const forecasters = await Forecasters.start(models, { threads: limits.inferenceThreads, queueRowsMax });
  const metrics = createMetrics({ collectProcess: true });
  collectForecasts(metrics, () => forecasters.stats());
  const detectors = stream.detectors.map((detector, i) => {
    const forecaster = forecasters.forecasterFor(models[i]!.name, detector.settings.h);
    const timed = timeForecasts(forecaster, metrics, () => performance.now());
    return watchDetector(detector, { forecaster: timed, digest: models[i]!.digest }, settingsDigest(detector));
  });
  const worker = await startWorker({
    log,
    stream,
    limits,
    detectors,
    encodeScore,
    schemas: registry,
    events: reportEvents(metrics, logger),
    nowMs: Date.now,
  });
  const ops = await startOpsServer({
    host: config.opsHost,
    port: config.opsPort,
    metrics,
    reasonsNotReady: () => worker.notReady(),
  });
  return {
    opsUrl: ops.url,
    notReady: () => worker.notReady(),
    finished: worker.finished,
    async stop() {
      await worker.stop();
      await Promise.all([forecasters.close(), registry?.close(), ops.close()]);
    },
  };
}
