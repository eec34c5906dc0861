import { KeyRing } from '../../api/accounts/keys/key-ring.ts';
import { startOtlpServer } from '../../api/grpc/otlp-server.ts';
import { startReceiverServer } from '../../api/http/server.ts';
import { BodyBudget } from '../../api/wire/body/body-budget.ts';
import { BODIES_BYTES_MAX } from '../../api/wire/body/read-bytes.ts';
import type { HttpConfig } from '../../config/connections.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { Logger } from '../../ops/logger.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { ReceivePoints } from '../../records/received-points.ts';
import { openDatabase } from '../../store/database/open-store.ts';
import { StoreClock } from '../../store/database/store-clock.ts';
import { timedDatabase } from '../../store/database/timed-database.ts';
import { firstKey } from './first-key.ts';

interface ReceiverServiceOptions {
  readonly config: Pick<LoadedConfig, 'http' | 'grpcPort' | 'worker' | 'dataDir' | 'storeUrl'>;
  readonly receivePoints: ReceivePoints;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** HTTP and gRPC of `receive`: keys and limits of the store, and the routes of points. Throws a ServiceError. */
export async function runReceiverService(options: ReceiverServiceOptions) {
  const { config, receivePoints, metrics, logger } = options;
  const { http, grpcPort, worker, dataDir, storeUrl } = config;
  const store = timedDatabase(await openDatabase({ dataDir, url: storeUrl }), metrics.storeSeconds);
  try {
    const clock = await StoreClock.start(store);
    const { nowMs } = clock;
    const bodies = new BodyBudget(BODIES_BYTES_MAX);
    const shared = { ...httpPlace(http), keys: new KeyRing(store, nowMs), bodies, receivePoints, metrics, logger };
    const server = await startReceiverServer({ ...shared, store, nowMs });
    const startGrpc = async (port: number) =>
      startOtlpServer({ ...shared, port }).catch(async (error: unknown) => {
        await server.close(0);
        throw error;
      });
    const grpc = grpcPort === null ? null : await startGrpc(grpcPort);
    return {
      url: server.url,
      grpc: grpc?.address ?? null,
      /** The secret of a key that was created because there was none. The caller prints it once. */
      madeKey: await firstKey(store, http, logger),
      reasonsNotReady: () => [server.trouble()].filter((reason) => reason !== null),
      /** Answers the requests in progress, at most `shutdownMsMax`, then closes everything. */
      async stop() {
        await Promise.all([server.close(worker.shutdownMsMax), grpc?.close(worker.shutdownMsMax)]);
        clock.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

export function httpPlace({ host, port, tls, trustedProxies, corsOrigins, ...limits }: HttpConfig) {
  const { connectionsMax, connectionsPerAddressMax: perAddressMax } = limits;
  return { host, port, tls, trustedProxies, corsOrigins, connectionsMax, perAddressMax };
}
