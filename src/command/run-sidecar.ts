import type { LoadedConfig } from '../config/config.ts';
import { keyCheck, makeApiKey } from '../http/api-key.ts';
import { JOB_LIMITS } from '../http/jobs/job-limits.ts';
import { JobQueue } from '../http/jobs/job-queue.ts';
import { JobSandbox } from '../http/jobs/job-sandbox.ts';
import { serveModels } from '../http/served-models.ts';
import { startHttpServer } from '../http/server.ts';
import { UsageMeter } from '../http/usage-meter.ts';
import type { ModelCatalog } from '../model/catalog.ts';
import { type ForecasterStats, Forecasters } from '../model/forecaster.ts';
import { ServiceError } from '../service-error.ts';
import { openDatabase } from '../store/open-store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface RunningSidecar {
  readonly url: string;
  /** A key that was made because none was configured; whoever started the sidecar shows it, once. */
  readonly madeKey: string | null;
  forecasts(): ForecasterStats;
  /** Answers the requests that are there, for as long as the configuration allows, and ends. */
  stop(): Promise<void>;
}

/** Where jobs are kept and what they may take, and where HTTP is. */
export type SidecarConfig = Pick<LoadedConfig, 'http' | 'worker' | 'dataDir' | 'storeUrl'>;

/** The whole sidecar: store, inference threads, HTTP server, and the runner of jobs. Throws a ServiceError for what stands in its way. */
export async function runSidecar(
  { http, worker: limits, dataDir, storeUrl }: SidecarConfig,
  catalog: ModelCatalog,
  metrics: Metrics,
  logger: Logger,
): Promise<RunningSidecar> {
  const models = catalog.names.map((name) => catalog.get(name));
  if (models.length === 0) throw new ServiceError('configuration', 'there is no model to serve; set MODELS_DIR');
  const database = await openDatabase({ dataDir, url: storeUrl });
  const opened: (() => Promise<unknown>)[] = [() => database.close()];
  const closeAll = async () => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  try {
    const forecasters = await Forecasters.start(models, { threads: limits.inferenceThreads });
    opened.push(() => forecasters.close());
    const madeKey = http.apiKey === null ? makeApiKey() : null;
    const usage = new UsageMeter(Date.now);
    const { inFlight } = JOB_LIMITS;
    const jobs = new JobQueue({
      database,
      executor: new JobSandbox(catalog, { memoryMbMax: http.jobMemoryMbMax, heapMbMax: http.jobMemoryMbMax }),
      nowMs: Date.now,
      logger,
      onSucceeded: (_job, tokens) => usage.count(tokens),
      limits: { inFlight: { ...inFlight, jobsMax: http.jobsInFlightMax } },
    });
    const server = await startHttpServer({
      host: http.host,
      port: http.port,
      checkKey: keyCheck(http.apiKey ?? madeKey!),
      models: serveModels(catalog, forecasters),
      usage,
      jobs,
      metrics,
      logger,
    });
    opened.push(() => server.close(limits.shutdownMsMax));
    jobs.start();
    return { url: server.url, madeKey, forecasts: () => forecasters.stats(), stop: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
