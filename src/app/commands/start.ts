import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AlertService } from '../../alerts/alert-service.ts';
import { cacheFolder } from '../../config/cache-folder.ts';
import { changeOptions } from '../../config/change-options.ts';
import type { Config, KafkaConfig } from '../../config/config.ts';
import { identityOptions } from '../../config/identity-options.ts';
import { loadProcessConfig, routesPath } from '../../config/load.ts';
import { alertOptions, detectorsOptions, historyOptions, httpOptions, workerOptions } from '../../config/options.ts';
import { coveredDemoSeries } from '../../demo/demo-coverage.ts';
import { KAFKA_VERSION } from '../../demo/local-kafka/java-artifacts.ts';
import { startKafka } from '../../demo/local-kafka/kafka-broker.ts';
import { type DemoConfig, prepareDemo, type RunningDemo, startDemo } from '../../demo/run-demo.ts';
import { createLogger } from '../../ops/logger.ts';
import { collectForecasts, createMetrics, type Metrics } from '../../ops/metrics.ts';
import { startOpsServer } from '../../ops/ops-server.ts';
import { ServiceError } from '../../ops/service-error.ts';
import { aborted, type CommandIo, DONE, type ExitCode, FAILED, withDeadline } from '../../tools/terminal/command-io.ts';
import { loadRoutes, runAlerts } from '../processes/alerts/run-alerts.ts';
import { runIncidents } from '../processes/incidents/run-incidents.ts';
import { followDetectors } from '../processes/live-detectors.ts';
import { runOperations } from '../processes/operations/run-operations.ts';
import { type RunningScores, serveScores } from '../processes/prometheus/serve-scores.ts';
import { type RunningReceiver, runReceiver } from '../processes/run-receiver.ts';
import { type RunningSidecar, runSidecar } from '../processes/run-sidecar.ts';
import { type RunningWorker, resolveWithModels, runWorker } from '../processes/run-worker.ts';
import { printProblems, problemsIn, type RunnableCommand } from './command.ts';

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
    const detectors = fileURLToPath(new URL(`../../../${DETECTORS}`, import.meta.url));
    const loaded = loadProcessConfig(flags, [], { detectors, logLevel: LOG_LEVEL });
    const routes = loadRoutes(routesPath(flags));
    if (loaded.kind === 'problems') return printProblems(problemsIn(loaded, routes), io);
    const { models, result } = await resolveWithModels(loaded.config);
    if (result.kind === 'problems' || routes?.kind === 'problems') return printProblems(problemsIn(result, routes), io);
    const { config } = result;
    const logger = createLogger(config.logLevel, process.stderr);
    const metrics = createMetrics({ collectProcess: true });
    const covered = coveredDemoSeries(config.stream, Date.now());
    const stream = runOperations({ config: loaded.config, logger, metrics });
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
    let kafka: DemoKafka | null = null;
    let scores: RunningScores | null = null;
    try {
      scores = await serveScores(config, { reader: operations.reader, logger });
      await printAddress(sidecar, io);
      const found = config.kafka === null ? await startLocalKafka(config.dataDir, io) : clusterOf(config.kafka);
      if (io.stop.aborted) return DONE;
      if (found === null) return await serveAlone(config, { metrics, sidecar }, io);
      kafka = found;
      stream.begin(found.config);
      const beside = { metrics, forecasts: () => sidecar.forecasts() };
      const startStream = async (demo: DemoConfig) => {
        const worker = await runWorker({ config: demo, models, logger, beside });
        const fallbacks = { detectors };
        const unfollow = followDetectors({ flags, config: demo, worker, logger, version: 0, fallbacks });
        const stop = () => {
          unfollow();
          return worker.stop();
        };
        return { ...worker, stop };
      };
      const startAlerts = async (demo: DemoConfig, from: 'earliest' | 'latest') =>
        routes && runAlerts({ config: demo, routes: routes.config, from, redeliver: false, metrics, logger });
      const startIncidents = (demo: DemoConfig, from: 'earliest' | 'latest') => {
        const { topic, quietMs } = demo.incidents;
        const incidents = { topic, quietMs: quietMs ?? DEMO_QUIET_MS };
        return runIncidents({ config: { ...demo, incidents }, from, metrics, logger });
      };
      const startReceiver = async (demo: DemoConfig) => {
        receiver = await runReceiver({
          config: demo,
          kafka: demo.kafka,
          flags,
          fallbacks: { detectors },
          metrics,
          logger,
        });
        return receiver;
      };
      const demo = { ...config, kafka: kafka.config };
      const starts = { startStream, startAlerts, startIncidents, startReceiver };
      return await scoreDemo({ config: demo, ...starts, covered, kafkaLost: kafka.lost }, io);
    } catch (error) {
      // After Ctrl-C during the start, its failures are not printed.
      if (io.stop.aborted) return DONE;
      throw error;
    } finally {
      await scores?.close();
      // The history reads Kafka until it is stopped.
      await stream.stop();
      await Promise.all([kafka?.stop(), sidecar.stop()]);
    }
  },
};

async function printAddress({ url, madeKey, signInLink }: RunningSidecar, io: CommandIo): Promise<void> {
  const key = madeKey === null ? '.' : `; the first key, shown once and stored: ${madeKey}`;
  io.out(`The console is at ${url}/console${key}`);
  const link = await signInLink();
  if (link !== null) io.out(`Sign in, once and within ${link.minutes} minutes: ${link.url}`);
  // A configured key is a secret and is not printed. Of a stored key only the digest is known.
  io.out(`Try: curl -H "Authorization: Bearer ${madeKey ?? '$TIDEWATCH_API_KEY'}" ${url}/validate_api_key`);
  if (madeKey === null) io.out('If you have no key any more: npm start -- keys create');
}

/** Runs the sidecar alone, where there is no Kafka. */
async function serveAlone(
  { opsHost: host, opsPort: port }: Config,
  { metrics, sidecar }: { readonly metrics: Metrics; readonly sidecar: RunningSidecar },
  io: CommandIo,
): Promise<ExitCode> {
  collectForecasts(metrics, () => sidecar.forecasts());
  const ops = await startOpsServer({ host, port, metrics, reasonsNotReady: () => sidecar.reasonsNotReady() });
  await aborted(io.stop);
  await ops.close();
  return DONE;
}

interface DemoKafka {
  readonly config: KafkaConfig;
  /** Resolves when the broker ended and will not restart by itself. */
  readonly lost: Promise<Error>;
  stop(): Promise<void>;
}

/** A cluster is restarted by its operators, so it is waited for. */
function clusterOf(config: KafkaConfig): DemoKafka {
  return { config, lost: new Promise(() => {}), stop: async () => {} };
}

/** null, with the reason printed, where Java or Maven is missing. */
async function startLocalKafka(dataDir: string, io: CommandIo): Promise<DemoKafka | null> {
  const folder = join(dataDir, 'kafka');
  io.out(
    `Starting Apache Kafka ${KAFKA_VERSION} on this machine (data in ${folder}; the first time its jars are fetched)`,
  );
  const local = await startKafka({ cacheDir: cacheFolder(), dataDir: folder }).catch((error: unknown) => {
    if (!(error instanceof ServiceError && error.code === 'missing-tool')) throw error;
    io.out(`Only HTTP is served, no stream is scored: ${error.message}`);
    return null;
  });
  if (local === null) return null;
  const text = `the local Kafka ended by itself; ${join(folder, 'broker.log')} may have the reason`;
  return {
    config: { brokers: local.brokers, clientId: workerOptions.clientId.fallback, tls: null, sasl: null },
    lost: local.ended().then(() => new ServiceError('internal', text)),
    stop: () => local.stop(),
  };
}

interface ScoredDemo {
  readonly config: DemoConfig;
  startStream(config: DemoConfig): Promise<RunningWorker>;
  /** Once there are topics. */
  startReceiver(config: DemoConfig): Promise<RunningReceiver>;
  /** null without a routes file. */
  startAlerts(config: DemoConfig, from: 'earliest' | 'latest'): Promise<AlertService | null>;
  startIncidents(config: DemoConfig, from: 'earliest' | 'latest'): ReturnType<typeof runIncidents>;
  readonly covered: ReadonlySet<string>;
  /** Resolves when the broker ended for good. */
  readonly kafkaLost: Promise<Error>;
}

async function scoreDemo(
  { config, startStream, startAlerts, startIncidents, startReceiver, covered, kafkaLost }: ScoredDemo,
  io: CommandIo,
): Promise<ExitCode> {
  const plan = await prepareDemo(config);
  // Events of a history that is still to be scored are sent; those of one that was scored without alerts are not.
  const from = plan.newest.size === 0 ? 'earliest' : 'latest';
  const alerts = await startAlerts(config, from);
  const worker = await startStream(config).catch(async (error: unknown) => {
    await alerts?.stop();
    throw error;
  });
  const receiver = await startReceiver(config);
  const incidents = await startIncidents(config, from);
  if (alerts !== null) io.out(`Events go to the receivers of ${config.routes}.`);
  const brokers = config.kafka.brokers.join(',');
  io.out(`Kafka is at ${brokers}. While this runs, open ${worker.opsUrl}/readyz and ${worker.opsUrl}/metrics,`);
  io.out(`or type in another terminal: KAFKA_BROKERS=${brokers} npm start -- watch`);
  if (config.sources.length > 0) {
    io.out(`What source says is not polled here, but by another process: KAFKA_BROKERS=${brokers} npm start -- poll`);
  }
  let demo: RunningDemo | null = null;
  try {
    demo = await startDemo({ config, plan, covered }, io);
    const alertsEnd = alerts?.finished ?? new Promise<never>(() => {});
    const failure = await Promise.race([
      worker.finished,
      demo.failed,
      kafkaLost,
      alertsEnd,
      incidents.finished,
      aborted(io.stop),
    ]);
    if (failure) io.err(`The demo cannot continue: ${failure.message}`);
    else io.out('Stopping. The next start continues from here.');
    return failure ? FAILED : DONE;
  } finally {
    await demo?.stopFeed();
    await receiver.stop();
    await withDeadline(worker.stop(), config.worker.shutdownMsMax);
    await withDeadline(incidents.stop(), config.worker.shutdownMsMax);
    await withDeadline(alerts?.stop() ?? Promise.resolve(), config.worker.shutdownMsMax);
    await demo?.stopView();
  }
}
