import { createEventEncoder } from '../../codecs/event-codec.ts';
import { connectRegistry } from '../../codecs/formats/registry.ts';
import { schemaHeadersOf } from '../../codecs/formats/wire-header.ts';
import { createScoreEncoder } from '../../codecs/score-encoder.ts';
import type { DetectorConfig, KafkaConfig } from '../../config/config.ts';
import type { Config, LoadedConfig } from '../../config/load.ts';
import { repartitionOf } from '../../config/rekeyed-input.ts';
import { resolveConfig } from '../../config/resolve.ts';
import {
  type DetectorModels,
  findDetectorModels,
  loadDetector,
  pretrainedModels,
} from '../../engine/detector-models.ts';
import { createKafkaLog } from '../../engine/log/kafka-log.ts';
import { metricReports, timeForecasts } from '../../engine/metric-reports.ts';
import type { DiagnosticReport } from '../../engine/report-diagnostics.ts';
import { InputStopReport } from '../../engine/report-input-stop.ts';
import { FORECAST_ROWS_MAX } from '../../engine/state/requested-forecasts.ts';
import { startWorker, type Worker } from '../../engine/stream-worker.ts';
import { topicsInUse } from '../../engine/topics/changelog-name.ts';
import { checkTopics } from '../../engine/topics/topic-admin.ts';
import type { LoadedDetector } from '../../engine/unit/loaded-detector.ts';
import type { Forecaster } from '../../forecasting/forecaster.ts';
import { requirePermissions } from '../../kafka/admin/topic-permissions.ts';
import { openCatalog } from '../../models/catalog.ts';
import { Forecasters } from '../../models/onnx-forecaster.ts';
import type { Logger } from '../../ops/logger.ts';
import { collectForecasts, type ForecastSums, type Metrics } from '../../ops/metrics.ts';
import { ServiceError } from '../../ops/service-error.ts';
import { loggedConnection } from './logged-connection.ts';
import { startRepartition } from './run-repartition.ts';
import { loadHistory, type NamedHistory } from './warm-history.ts';

export interface RunningWorker {
  /** Empty when every assigned partition is being scored, else one reason a sentence. */
  notReady(): string[];
  warnings(): readonly string[];
  /** null after `stop`; an error when the worker cannot continue. */
  readonly finished: Promise<Error | null>;
  readonly metrics: Metrics;
  /** Scores by other detectors from the next commit on. Returns why that is not possible in a process that runs. */
  changeDetectors(
    detectors: readonly DetectorConfig[],
    by: { readonly models: DetectorModels; readonly version: number },
  ): string | null;
  stop(): Promise<void>;
}

/**
 * Opens the models, and completes the configuration with their limits.
 * Throws ServiceError `model-invalid` for a damaged model folder, `configuration` for a fine-tuned model that cannot be
 * used.
 */
export async function resolveWithModels(loaded: LoadedConfig) {
  const models = await findDetectorModels(loaded, await openCatalog({ modelsDir: loaded.modelsDir }));
  const limits = new Map([...models.byName].map(([name, { model }]) => [name, model.manifest]));
  return { models, result: resolveConfig(loaded, limits) };
}

interface RunWorkerOptions {
  readonly config: Config & { readonly kafka: KafkaConfig };
  readonly models: DetectorModels;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Forecasts of an HTTP service in the same process. */
  readonly otherForecasts?: () => ForecastSums;
  /** Version of the detectors; 0: the detectors file. */
  readonly version?: number;
  /** History of series that have no state; null for none. */
  readonly history?: NamedHistory | null;
}

/**
 * Starts inference threads and the stream. Throws a ServiceError when one of them cannot start; the others are closed
 * then.
 */
export async function runWorker({
  config,
  models,
  logger,
  metrics,
  otherForecasts,
  version = 0,
  history = null,
}: RunWorkerOptions): Promise<RunningWorker> {
  await using opened = new AsyncDisposableStack();
  const { worker, forecasters, bind, diagnostics, inputStop } = await startStream(
    { config, models, metrics, logger, version, history },
    opened,
  );
  collectForecasts(metrics, () => {
    const stats = forecasters.stats();
    return otherForecasts === undefined ? stats : sumOf(stats, otherForecasts());
  });
  const all = opened.move();
  return {
    notReady: () => [...worker.notReady(), ...(forecasters.trouble === null ? [] : [forecasters.trouble])],
    warnings: () => [...diagnostics.warnings(), ...inputStop.warnings()],
    finished: worker.finished,
    metrics,
    changeDetectors(detectors, by) {
      try {
        worker.changeDetectors(
          detectors.map((detector) => bind(detector, by.models)),
          by.version,
        );
        diagnostics.detectorsSet(detectors);
        inputStop.detectorsSet(detectors);
        return null;
      } catch (error) {
        // A model that was not named at the start.
        if (error instanceof ServiceError) return `${error.message}: that needs a restart`;
        throw error;
      }
    },
    stop: () => all.disposeAsync(),
  };
}

interface StartedStream {
  readonly worker: Worker;
  readonly forecasters: Forecasters;
  readonly bind: (detector: DetectorConfig, models: DetectorModels) => LoadedDetector;
  readonly diagnostics: DiagnosticReport;
  readonly inputStop: InputStopReport;
}

function withInputStop<R extends ReturnType<typeof metricReports>>(reports: R, inputStop: InputStopReport): R {
  return {
    ...reports,
    assigned(partitions) {
      inputStop.assigned(partitions);
      reports.assigned(partitions);
    },
    committed(partition, commit, tally) {
      inputStop.committed(commit.newestEventMs);
      reports.committed(partition, commit, tally);
    },
  };
}

/** @param opened closes each part, in the reverse order of opening */
async function startStream(
  { config, models, metrics, logger, version, history }: Required<Omit<RunWorkerOptions, 'otherForecasts'>>,
  opened: AsyncDisposableStack,
): Promise<StartedStream> {
  const { kafka, worker: limits, registry: registryConfig } = config;
  const stream = { ...config.stream, topics: await topicsInUse({ config: kafka }, config.stream) };
  await checkTopics({ config: kafka }, stream.topics);
  const { observations, changelog, scores, events, deadLetters } = stream.topics;
  await requirePermissions({ config: kafka }, [
    [observations, 'Read'],
    [changelog, 'Read'],
    ...[changelog, scores, events, deadLetters].map((topic) => [topic, 'Write'] as const),
  ]);
  const registry = registryConfig === null ? null : await connectRegistry(registryConfig);
  opened.defer(() => registry?.close());
  const { format } = stream.output;
  const encodeScore = await createScoreEncoder(format, { topic: stream.topics.scores, registrar: registry });
  const encodeEvent = await createEventEncoder(format, { topic: stream.topics.events, registrar: registry });
  const inputStop = new InputStopReport(metrics, logger, Date.now);
  opened.defer(() => inputStop.stop());
  inputStop.detectorsSet(stream.detectors);
  const reports = withInputStop(metricReports(metrics, logger), inputStop);
  const { diagnostics } = reports;
  diagnostics.detectorsSet(stream.detectors);
  const log = createKafkaLog({
    ...loggedConnection(kafka, logger),
    topics: stream.topics,
    groupId: stream.groupId,
    instanceId: stream.groupInstanceId,
    sessionMs: limits.sessionMs,
    compression: stream.output.compression,
    headers: { names: [...stream.output.headers, ...schemaHeadersOf(stream.input.format)], raw: false },
    onFetch: ({ partition, endOffset }) => reports.fetched(partition, endOffset),
    onAnswer: (seconds) => reports.fetchAnswered(seconds),
  });
  const partitions = await log.partitionCount();
  const repartition = repartitionOf(config.stream);
  const isRekeyed = repartition !== null;
  const parts = { kafka, stream, partitions, isRekeyed, schemas: registry, logger };
  const warmStart = history === null ? null : await loadHistory(history, parts);
  const queueRowsMax = FORECAST_ROWS_MAX * partitions;
  const forecasters = await Forecasters.start(pretrainedModels(stream.detectors, models), {
    threads: limits.inferenceThreads,
    queueRowsMax,
  });
  opened.defer(() => forecasters.close());
  const timed = (forecaster: Forecaster) => timeForecasts(forecaster, metrics, () => performance.now());
  const bind: StartedStream['bind'] = (detector, found) =>
    loadDetector(detector, found, (...spec) => timed(forecasters.forecasterFor(...spec)));
  const detectors = stream.detectors.map((detector) => bind(detector, models));
  const worker = await startWorker({
    log,
    stream,
    limits,
    detectors,
    version,
    warmStart,
    encodeScore,
    encodeEvent,
    schemas: registry,
    reports,
    nowMs: Date.now,
  });
  opened.defer(() => worker.stop());
  inputStop.start(() => worker.notReady().length === 0);
  if (repartition === null) return { worker, forecasters, bind, diagnostics, inputStop };
  const shared = { kafka, stream, limits, detectors, version, schemas: registry, partitions, metrics, logger };
  const carrier = await startRepartition({ ...shared, repartition });
  opened.defer(() => carrier.stop());
  return { worker: together(worker, carrier), forecasters, bind, diagnostics, inputStop };
}

/** Two workers behind one interface. */
function together(worker: Worker, carrier: Worker): Worker {
  return {
    finished: Promise.race([worker.finished, carrier.finished]),
    notReady: () => [...worker.notReady(), ...carrier.notReady().map((reason) => `repartition: ${reason}`)],
    changeDetectors(detectors, version) {
      worker.changeDetectors(detectors, version);
      carrier.changeDetectors(detectors, version);
    },
    stop: async () => void (await Promise.all([worker.stop(), carrier.stop()])),
  };
}

function sumOf(a: ForecastSums, b: ForecastSums): ForecastSums {
  return {
    rowsWaiting: a.rowsWaiting + b.rowsWaiting,
    runs: a.runs + b.runs,
    forecasts: a.forecasts + b.forecasts,
    runMs: a.runMs + b.runMs,
    cpuMs: a.cpuMs + b.cpuMs,
  };
}
