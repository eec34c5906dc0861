import { availableParallelism } from 'node:os';
import { KeyRing } from '../../api/accounts/keys/key-ring.ts';
import { Calls } from '../../api/accounts/metering.ts';
import { RetentionSweeper } from '../../api/accounts/retention-sweeper.ts';
import { countTokens } from '../../api/accounts/service-metrics.ts';
import { IdentityProvider } from '../../api/accounts/sign-in/identity-provider.ts';
import { SIGN_IN_MS_MAX, SignInCode } from '../../api/accounts/sign-in/sign-in-code.ts';
import { startHttpServer } from '../../api/http/server.ts';
import { JOB_LIMITS } from '../../api/jobs/job-limits.ts';
import { countJobs } from '../../api/jobs/job-metrics.ts';
import { JobQueue } from '../../api/jobs/job-queue.ts';
import { JobSandbox, slotsOf, usableMemoryMb } from '../../api/jobs/job-sandbox.ts';
import { jobTable } from '../../api/jobs/job-table.ts';
import { DEFAULT_MODEL, serveModels } from '../../api/models/served-models.ts';
import { tuneInSandbox } from '../../api/models/tuned-models.ts';
import { reportTunings } from '../../api/models/tuning-progress.ts';
import type { Operations } from '../../api/operations/operations.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { consoleFiles } from '../../console/page-files.ts';
import { signInRoute } from '../../console/view/route.ts';
import { isShipped, type ModelCatalog } from '../../models/catalog.ts';
import { type ForecasterStats, Forecasters } from '../../models/onnx-forecaster.ts';
import { WeightsCache } from '../../models/tuned-weights.ts';
import { Tuner } from '../../models/tuning/tuner.ts';
import type { Logger } from '../../ops/logger.ts';
import { collectService, type Metrics } from '../../ops/metrics.ts';
import { ServiceError } from '../../ops/service-error.ts';
import type { ReceivePoints } from '../../records/received-points.ts';
import type { Database } from '../../store/database/database.ts';
import { openDatabase, weightsFolder } from '../../store/database/open-store.ts';
import { StoreClock } from '../../store/database/store-clock.ts';
import { timedDatabase } from '../../store/database/timed-database.ts';
import { jobBacklog } from '../../store/jobs/jobs.ts';
import { isUsable, listApiKeys } from '../../store/keys/api-keys.ts';
import { hasRole } from '../../store/keys/key-role.ts';
import { FinetunedWeights } from '../../store/models/finetuned-weights.ts';
import { BacktestSandbox } from '../../tools/backtest/backtest-sandbox.ts';
import { firstKey } from './first-key.ts';
import { httpPlace } from './run-receiver-service.ts';

interface SignInLink {
  readonly url: string;
  readonly minutes: number;
}

export interface RunningSidecar {
  readonly url: string;
  /** The secret of a key that was created because there was none. The caller prints it once. */
  readonly madeKey: string | null;
  /** Opens the console signed in, once; null if no admin's key is usable. */
  signInLink(): Promise<SignInLink | null>;
  forecasts(): ForecasterStats;
  reasonsNotReady(): readonly string[];
  /** Answers the requests in progress, at most `shutdownMsMax`, then closes everything. */
  stop(): Promise<void>;
}

/** Configuration of store, jobs and HTTP server. */
type SidecarConfig = Pick<LoadedConfig, 'http' | 'worker' | 'dataDir' | 'storeUrl'>;

interface SidecarOptions {
  readonly config: SidecarConfig;
  readonly catalog: ModelCatalog;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Operations of the stream; null if it is not read. */
  readonly operations: Operations | null;
  /** Writes points of metric pipelines to the input topic; left out where none are received. */
  readonly receivePoints?: ReceivePoints;
}

/**
 * Starts store, inference threads, HTTP server and job runner. Throws a ServiceError when one of them cannot start; the
 * others are closed then.
 */
export async function runSidecar(options: SidecarOptions): Promise<RunningSidecar> {
  const { config, catalog, metrics, logger, operations, receivePoints } = options;
  const { http, worker: limits, dataDir, storeUrl } = config;
  const models = modelsOf(catalog);
  const place = { dataDir, url: storeUrl };
  const store = timedDatabase(await openDatabase(place), metrics.storeSeconds);
  await using opened = new AsyncDisposableStack();
  opened.defer(() => store.close());
  const rare = models.filter((model) => model.name !== DEFAULT_MODEL && isShipped(model));
  const forecasters = await Forecasters.start(models, { threads: limits.inferenceThreads, rare });
  opened.defer(() => forecasters.close());
  const clock = await StoreClock.start(store);
  opened.defer(() => clock.close());
  const { nowMs } = clock;
  const tuner = new Tuner(models);
  opened.defer(() => tuner.close());
  const kept = new FinetunedWeights(store, weightsFolder(place));
  const finetuned = { kept, cache: new WeightsCache(), modelsMax: http.finetunedModelsMax };
  const sweeper = new RetentionSweeper({ store, kept, nowMs, logger });
  opened.defer(() => sweeper.close());
  const onSettled = countTokens(metrics);
  const calls = new Calls(store, nowMs, { logger, onSettled });
  const watch = reportTunings(metrics, logger, nowMs);
  const memory = { memoryMbMax: http.jobMemoryMbMax, heapMbMax: http.jobMemoryMbMax };
  const slots = slotsOf(availableParallelism(), usableMemoryMb(), http.jobMemoryMbMax);
  const sandbox = new JobSandbox(catalog, memory, { observe: watch, slots });
  const backtests = new BacktestSandbox({ catalog, database: store, kept });
  opened.defer(() => backtests.close());
  const services = { store, finetuned, logger, nowMs };
  const jobs = new JobQueue({
    database: store,
    executor: jobTable(sandbox, services, operations && { operations, backtests, store }),
    nowMs,
    logger,
    observe: countJobs(metrics, onSettled),
    limits: { inFlight: { ...JOB_LIMITS.inFlight, jobsMax: http.jobsInFlightMax } },
  });
  const signInCode = new SignInCode();
  const server = await startHttpServer({
    ...httpPlace(http),
    store,
    keys: new KeyRing(store, nowMs),
    calls,
    models: serveModels(catalog, forecasters, tuneInSandbox(tuner, watch)),
    finetuned,
    jobs,
    consolePage: consoleFiles(),
    signInCode,
    ...(http.identity && { identity: new IdentityProvider(http.identity, nowMs) }),
    backtests,
    operations,
    ...(receivePoints && { receivePoints }),
    nowMs,
    metrics,
    logger,
  });
  opened.defer(() => server.close(limits.shutdownMsMax));
  jobs.start();
  collectService(metrics, async () => ({ ...(await backlogOf(store, nowMs)), bodyBytes: server.bodyBytes() }));
  // Last: a new key must reach the caller, so nothing after it may fail.
  const madeKey = await firstKey(store, http, logger);
  const all = opened.move();
  return {
    url: server.url,
    madeKey,
    signInLink: () => signInLink(server.url, { store, signInCode, nowMs }),
    forecasts: () => forecasters.stats(),
    reasonsNotReady: () => [calls.trouble, forecasters.trouble, server.trouble()].filter((reason) => reason !== null),
    stop: () => all.disposeAsync(),
  };
}

function modelsOf(catalog: ModelCatalog) {
  const models = catalog.names.map((name) => catalog.get(name));
  if (models.length === 0) throw new ServiceError('configuration', 'there is no model to serve; set MODELS_DIR');
  return models;
}

/** A session of an admin's key, because the user who starts the service is an admin. */
async function signInLink(
  url: string,
  { store, signInCode, nowMs }: { store: Database; signInCode: SignInCode; nowMs: () => number },
): Promise<SignInLink | null> {
  const admin = (await listApiKeys(store)).find((key) => hasRole(key.role, 'admin') && isUsable(key, nowMs()));
  if (admin === undefined) return null;
  const code = signInCode.make(admin.id, nowMs());
  return { url: `${url}/console${signInRoute(code)}`, minutes: SIGN_IN_MS_MAX / 60_000 };
}

async function backlogOf(store: Database, nowMs: () => number) {
  const { pending, running, oldestPendingAtMs } = await jobBacklog(store);
  const oldestPendingMs = oldestPendingAtMs === null ? 0 : nowMs() - oldestPendingAtMs;
  return { jobsPending: pending, jobsRunning: running, oldestPendingMs };
}
