import type { HttpConfig, WorkerLimits } from '../config/config.ts';
import { keyCheck, makeApiKey } from '../http/api-key.ts';
import { JobQueue } from '../http/jobs/job-queue.ts';
import { serveModels } from '../http/served-models.ts';
import { startHttpServer } from '../http/server.ts';
import { UsageMeter } from '../http/usage-meter.ts';
import type { ModelCatalog } from '../model/catalog.ts';
import { type ForecasterStats, Forecasters } from '../model/forecaster.ts';
import { ServiceError } from '../service-error.ts';
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

/** The whole sidecar: inference threads and HTTP server. Throws a ServiceError for what stands in its way. */
export async function runSidecar(
  { http, worker: limits }: { readonly http: HttpConfig; readonly worker: WorkerLimits },
  catalog: ModelCatalog,
  metrics: Metrics,
  logger: Logger,
): Promise<RunningSidecar> {
  const models = catalog.names.map((name) => catalog.get(name));
  if (models.length === 0) throw new ServiceError('configuration', 'there is no model to serve; set MODELS_DIR');
  const forecasters = await Forecasters.start(models, { threads: limits.inferenceThreads });
  const madeKey = http.apiKey === null ? makeApiKey() : null;
  try {
    const server = await startHttpServer({
      host: http.host,
      port: http.port,
      checkKey: keyCheck(http.apiKey ?? madeKey!),
      models: serveModels(catalog, forecasters),
      usage: new UsageMeter(Date.now),
      jobs: new JobQueue(Date.now, logger),
      metrics,
      logger,
    });
    return {
      url: server.url,
      madeKey,
      forecasts: () => forecasters.stats(),
      async stop() {
        await server.close(limits.shutdownMsMax);
        await forecasters.close();
      },
    };
  } catch (error) {
    await forecasters.close();
    throw error;
  }
}
