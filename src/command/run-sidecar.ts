import { join } from 'node:path';
import type { Config, HttpConfig } from '../config/config.ts';
import { Calls } from '../http/calls.ts';
import { tuneWith } from '../http/finetuned.ts';
import { JobQueue } from '../http/jobs/job-queue.ts';
import { KeyRing } from '../http/key-ring.ts';
import { serveModels } from '../http/served-models.ts';
import { startHttpServer } from '../http/server.ts';
import type { ModelCatalog } from '../model/catalog.ts';
import { type ForecasterStats, Forecasters } from '../model/forecaster.ts';
import { WeightsCache } from '../model/tuning/tuned-weights.ts';
import { Tuner } from '../model/tuning/tuner.ts';
import { ServiceError } from '../service-error.ts';
import { ensureFirstKey, isUsable } from '../store/api-keys.ts';
import type { Database } from '../store/database.ts';
import { FinetunedWeights } from '../store/finetuned-weights.ts';
import { makeKeyId, makeKeySecret } from '../store/key-secret.ts';
import { openDatabase } from '../store/open-store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface RunningSidecar {
  readonly url: string;
  /** A key that was made because there was none; whoever started the sidecar shows it, once. */
  readonly madeKey: string | null;
  forecasts(): ForecasterStats;
  /** One sentence each. */
  reasonsNotReady(): readonly string[];
  /** Answers the requests that are there, for as long as the configuration allows, and ends. */
  stop(): Promise<void>;
}

type SidecarConfig = Pick<Config, 'http' | 'worker' | 'dataDir' | 'storeUrl'>;

/** The whole sidecar: store, inference threads and HTTP server. Throws a ServiceError for what stands in its way. */
export async function runSidecar(
  config: SidecarConfig,
  catalog: ModelCatalog,
  metrics: Metrics,
  logger: Logger,
): Promise<RunningSidecar> {
  const models = catalog.names.map((name) => catalog.get(name));
  if (models.length === 0) throw new ServiceError('configuration', 'there is no model to serve; set MODELS_DIR');
  const store = await openDatabase({ dataDir: config.dataDir, url: config.storeUrl });
  const closing: (() => Promise<void>)[] = [() => store.close()];
  const close = async () => {
    for (const end of closing.reverse()) await end();
  };
  try {
    const forecasters = await Forecasters.start(models, { threads: config.worker.inferenceThreads });
    closing.push(() => forecasters.close());
    const tuner = new Tuner(models);
    closing.push(() => tuner.close());
    const weightsDir = config.storeUrl === null ? join(config.dataDir, 'models') : null;
    const finetuned = { kept: new FinetunedWeights(store, weightsDir), cache: new WeightsCache() };
    const calls = new Calls(store, Date.now, logger);
    const server = await startHttpServer({
      host: config.http.host,
      port: config.http.port,
      store,
      calls,
      keys: new KeyRing(store, Date.now),
      models: serveModels(catalog, forecasters, tuneWith(tuner)),
      finetuned,
      jobs: new JobQueue(Date.now, logger),
      nowMs: Date.now,
      metrics,
      logger,
    });
    closing.push(() => server.close(config.worker.shutdownMsMax));
    // Last, so that a key that was made is shown even where a port was taken at first.
    const madeKey = await firstKey(store, config.http, logger);
    return {
      url: server.url,
      madeKey,
      forecasts: () => forecasters.stats(),
      reasonsNotReady: () => (calls.trouble === null ? [] : [calls.trouble]),
      stop: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The secret of a key that had to be made; null where there is a key already, or one was configured. */
async function firstKey(store: Database, { apiKey }: HttpConfig, logger: Logger): Promise<string | null> {
  const [secret, id, createdAtMs] = [makeKeySecret(), makeKeyId(), Date.now()];
  const unlimited = { expiresAtMs: null, models: null, callsPerMinute: null, callsAtOnce: null, credits: null };
  const name = apiKey === null ? 'first key' : 'TIDEWATCH_API_KEY';
  const offered = { id, owner: id, name, secret, createdAtMs, ...unlimited };
  const { configured, made } = await ensureFirstKey(store, apiKey, offered);
  if (configured !== null && !isUsable(configured, createdAtMs)) {
    logger.error({ keyId: configured.id }, 'the key of TIDEWATCH_API_KEY was revoked or has expired: it opens nothing');
  }
  return made ? secret : null;
}
