import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Routes } from '../../../alerts/routes/alert-route.ts';
import type { KafkaConfig } from '../../../config/config.ts';
import type { Config, LoadedConfig } from '../../../config/load.ts';
import { type CommandFallbacks, loadProcessConfig, routesPath } from '../../../config/load.ts';
import { identityOptions } from '../../../config/options/identity-options.ts';
import type { Flags } from '../../../config/options/option.ts';
import { alertOptions, historyOptions, httpOptions, workerOptions } from '../../../config/options/options.ts';
import { changeOptions, detectorsOptions } from '../../../config/options/topic-options.ts';
import { cacheFolder } from '../../../config/process-environment.ts';
import { KAFKA_VERSION } from '../../../demo/local-kafka/java-artifacts.ts';
import { startKafka } from '../../../demo/local-kafka/kafka-broker.ts';
import { coveredDemoSeries, type DemoConfig, feedDemo, prepareDemo, showDemo } from '../../../demo/run-demo.ts';
import type { DetectorModels } from '../../../engine/detector-models.ts';
import { createLogger, type Logger } from '../../../ops/logger.ts';
import { collectForecasts, createMetrics, type Metrics } from '../../../ops/metrics.ts';
import { ServiceError } from '../../../ops/service-error.ts';
import {
  aborted,
  type CommandIo,
  DONE,
  type ExitCode,
  FAILED,
  withDeadline,
} from '../../../tools/terminal/command-io.ts';
import { loadRoutes, runAlerts } from '../../processes/alerts/run-alerts.ts';
import { runIncidents } from '../../processes/incidents/run-incidents.ts';
import { followDetectors } from '../../processes/live-detectors.ts';
import { runOperations } from '../../processes/operations/run-operations.ts';
import { serveScores } from '../../processes/prometheus/serve-scores.ts';
import { type RunningReceiver, runReceiver } from '../../processes/run-receiver.ts';
import { type RunningSidecar, runSidecar } from '../../processes/run-sidecar.ts';
import { type RunningWorker, resolveWithModels, runWorker } from '../../processes/run-worker.ts';
import { printProblems, problemsIn, type RunnableCommand } from '../command.ts';
import { openOpsPort } from './run-service.ts';

const DETECTORS = 'deploy/demo.detectors.yaml';
/** Three steps of the demo are a quarter of an hour, and pass within seconds: incidents end after a while of them. */
const DEMO_QUIET_MS = 15_000;
/** The view shows passing failures. More log lines would hide the scores. */
const LOG_LEVEL = 'error';

/** Demo: broker, topics, feed, worker and sidecar in one process. */
export const startCommand: RunnableCommand = {
  options: Object.values({
    ...workerOptions,
    ...httpOptions,
    ...identityOptions,
    ...historyOptions,
    ...detectorsOptions,
    ...changeOptions,
    ...alertOptions,
    detectors: { ...workerOptions.detectors, fallback: DETECTORS },
    logLevel: { ...workerOptions.logLevel, fallback: LOG_LEVEL },
  }),
  async run(_operands, flags, io) {
    const detectors = fileURLToPath(new URL(`../../../../${DETECTORS}`, import.meta.url));
    const loaded = loadProcessConfig(flags, [], { detectors, logLevel: LOG_LEVEL });
    const routes = loadRoutes(routesPath(flags));
    if (loaded.kind === 'problems') return printProblems(problemsIn(loaded, routes), io);
    const { models, result } = await resolveWithModels(loaded.config);
    if (result.kind === 'problems' || routes?.kind === 'problems') return printProblems(problemsIn(result, routes), io);
    const opened = new AsyncDisposableStack();
    try {
      const parts = { loaded: loaded.config, config: result.config, models, routes: routes?.config ?? null };
      return await startDemo({ ...parts, flags, fallbacks: { detectors } }, { opened, io });
    } catch (error) {
      // After Ctrl-C during the start, its failures are not printed.
      if (io.stop.aborted) return DONE;
      throw error;
    } finally {
      await opened.disposeAsync();
    }
  },
};

interface DemoParts {
  readonly loaded: LoadedConfig;
  readonly config: Config;
  readonly models: DetectorModels;
  /** null without a routes file. */
  readonly routes: Routes | null;
  readonly flags: Flags;
  readonly fallbacks: CommandFallbacks;
}

interface DemoRun {
  /** Closed in reverse, so that the feed ends before what reads it. */
  readonly opened: AsyncDisposableStack;
  readonly io: CommandIo;
}

async function startDemo({ loaded, ...parts }: DemoParts, { opened, io }: DemoRun): Promise<ExitCode> {
  const { config, models } = parts;
  const logger = createLogger(config.logLevel, process.stderr);
  const metrics = createMetrics({ collectProcess: true });
  const covered = coveredDemoSeries(config.stream, Date.now());
  const stream = runOperations({ config: loaded, logger, metrics });
  const { operations } = stream;
  let receiver: RunningReceiver | null = null;
  const sidecar = await runSidecar({
    config,
    catalog: models.catalog,
    metrics,
    logger,
    operations,
    receivePoints: async (points) => {
      if (receiver === null) throw new ServiceError('broker-unavailable', 'Kafka is starting', { retryable: true });
      return receiver.receivePoints(points);
    },
  });
  opened.defer(() => sidecar.stop());
  let worker: Pick<RunningWorker, 'notReady' | 'warnings'> = {
    notReady: () => ['the demo is starting'],
    warnings: () => [],
  };
  const reasonsNotReady = () => [...sidecar.reasonsNotReady(), ...worker.notReady()];
  const ops = await openOpsPort(config, { metrics, logger, reasonsNotReady, warnings: () => worker.warnings() });
  opened.defer(() => ops.close());
  const scores = await serveScores(config, { reader: operations.reader, logger });
  opened.defer(() => scores?.close());
  await printAddress(sidecar, io);
  const found = config.kafka === null ? await startLocalKafka(config.dataDir, io) : clusterOf(config.kafka);
  if (found === null) {
    collectForecasts(metrics, () => sidecar.forecasts());
    worker = { notReady: () => [], warnings: () => [] };
    await aborted(io.stop);
    return DONE;
  }
  opened.defer(() => found.stop());
  if (io.stop.aborted) return DONE;
  stream.begin(found.config);
  // The history reads Kafka until it is stopped.
  opened.defer(() => stream.stop());
  const demo = { ...parts, config: { ...config, kafka: found.config }, covered, metrics, logger };
  const scored = await scoreDemo({ ...demo, otherForecasts: () => sidecar.forecasts() }, { opened, io });
  ({ receiver, worker } = scored);
  const brokers = found.config.brokers.join(',');
  io.out(`Kafka is at ${brokers}. While this runs, open ${ops.url}/readyz and ${ops.url}/metrics,`);
  io.out(`or type in another terminal: KAFKA_BROKERS=${brokers} npm start -- watch`);
  if (config.sources.length > 0) {
    io.out(`Sources are polled by another process: KAFKA_BROKERS=${brokers} npm start -- poll`);
  }
  const failure = await Promise.race([...(await scored.feed()), found.lost, aborted(io.stop)]);
  if (failure) io.err(`The demo cannot continue: ${failure.message}`);
  else io.out('Stopping. The next start continues from here.');
  return failure ? FAILED : DONE;
}

async function printAddress({ url, madeKey, signInLink }: RunningSidecar, io: CommandIo): Promise<void> {
  const key = madeKey === null ? '.' : `; the first key, shown once and stored: ${madeKey}`;
  io.out(`The console is at ${url}/console${key}`);
  const link = await signInLink();
  if (link !== null) io.out(`Sign in, once and within ${link.minutes} minutes: ${link.url}`);
  // A configured key is a secret and is not printed. Of a stored key only the digest is known.
  io.out(`Try: curl -H "Authorization: Bearer ${madeKey ?? '$TIDEWATCH_API_KEY'}" ${url}/validate_api_key`);
  if (madeKey === null) io.out('If you have no key any more: npm start -- keys create');
}

interface DemoKafka {
  readonly config: KafkaConfig;
  /** Resolves when the broker ended for good. */
  readonly lost: Promise<Error>;
  stop(): Promise<void>;
}

/** Operators restart their cluster, so the process waits for it. */
function clusterOf(config: KafkaConfig): DemoKafka {
  return { config, lost: new Promise(() => {}), stop: async () => {} };
}

/** null, with the reason printed, where Java or Maven is missing. */
async function startLocalKafka(dataDir: string, io: CommandIo): Promise<DemoKafka | null> {
  const folder = join(dataDir, 'kafka');
  io.out(
    `Starting Apache Kafka ${KAFKA_VERSION} on this machine (data in ${folder}; the first start fetches its jars)`,
  );
  const local = await startKafka({ cacheDir: cacheFolder(), dataDir: folder, stop: io.stop }).catch(
    (error: unknown) => {
      if (!(error instanceof ServiceError && error.code === 'missing-tool')) throw error;
      io.out(`Only HTTP is served, no stream is scored: ${error.message}`);
      return null;
    },
  );
  if (local === null) return null;
  const text = `the local Kafka ended unexpectedly; ${join(folder, 'broker.log')} may have the reason`;
  return {
    config: { brokers: local.brokers, clientId: workerOptions.clientId.fallback, tls: null, sasl: null },
    lost: local.ended().then(() => new ServiceError('internal', text)),
    stop: () => local.stop(),
  };
}

interface ScoredDemo extends Omit<DemoParts, 'loaded'> {
  readonly config: DemoConfig;
  /** Demo series that a detector scores. */
  readonly covered: ReadonlySet<string>;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly otherForecasts: NonNullable<Parameters<typeof runWorker>[0]['otherForecasts']>;
}

/** Starts what scores the demo. `feed` writes its records, and gives promises of the failures that end it. */
async function scoreDemo(scored: ScoredDemo, { opened, io }: DemoRun) {
  const { config, models, routes, flags, fallbacks, covered, metrics, logger, otherForecasts } = scored;
  const { kafka, worker: limits, incidents: found } = config;
  const stopping = (service: { stop(): Promise<void> }) =>
    opened.defer(() => withDeadline(service.stop(), limits.shutdownMsMax));
  const plan = await prepareDemo(config);
  const view = await showDemo({ config, plan, covered }, io);
  opened.defer(() => view.stop());
  // Events of a history that is still to be scored are sent; those of one that was scored without alerts are not.
  const from = plan.newest.size === 0 ? 'earliest' : 'latest';
  const alerts = routes && (await runAlerts({ config, routes, from, redeliver: false, metrics, logger }));
  if (alerts !== null) {
    stopping(alerts);
    io.out(`Events go to the receivers of ${config.routes}.`);
  }
  const incidents = await runIncidents({
    config: { ...config, incidents: { ...found, quietMs: found.quietMs ?? DEMO_QUIET_MS } },
    from,
    metrics,
    logger,
  });
  stopping(incidents);
  const worker = await runWorker({ config, models, logger, metrics, otherForecasts });
  stopping(worker);
  const unfollow = followDetectors({ flags, config, worker, logger, version: 0, fallbacks });
  opened.defer(unfollow);
  const receiver = await runReceiver({ config, kafka, flags, fallbacks, metrics, logger });
  opened.defer(() => receiver.stop());
  return {
    worker,
    receiver,
    async feed() {
      const feed = await feedDemo({ config, plan });
      opened.defer(() => feed.stop());
      return [worker.finished, incidents.finished, feed.failed, ...(alerts === null ? [] : [alerts.finished])];
    },
  };
}
