import type { KafkaConfig, LoadedConfig } from '../../config/config.ts';
import { asAdmin } from '../../kafka/admin/admin-client.ts';
import { retryWithBackoff } from '../../kafka/cluster/retry.ts';
import type { Logger } from '../../ops/logger.ts';
import { createMetrics } from '../../ops/metrics.ts';
import { startOpsServer } from '../../ops/ops-server.ts';
import { ServiceError } from '../../ops/service-error.ts';

const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 2_000;

/**
 * Waits until a broker answers, so that a process may start before its brokers, and throws the reason after
 * `startWaitMs`. A wrong address is logged at once, and the operators port answers meanwhile.
 */
export async function awaitBrokers(
  { worker: { startWaitMs }, opsHost: host, opsPort: port }: Pick<LoadedConfig, 'worker' | 'opsHost' | 'opsPort'>,
  { kafka, logger, signal }: { readonly kafka: KafkaConfig; readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  let reason = '';
  const look = async () => {
    try {
      await asAdmin({ config: kafka }, 'a broker was looked for', async () => undefined);
    } catch (error) {
      reason = (error as Error).message;
      throw error;
    }
  };
  const isAway = (error: unknown) => error instanceof ServiceError && error.code === 'broker-unavailable';
  try {
    await look();
    return;
  } catch (error) {
    if (!isAway(error) || startWaitMs === 0) throw error;
    logger.warn({ err: error, startWaitMs }, 'no broker answers; one is waited for');
  }
  const metrics = createMetrics({ collectProcess: true });
  metrics.brokerConnected.set(0);
  const ops = await startOpsServer({ host, port, metrics, reasonsNotReady: () => [reason] });
  logger.info({ url: ops.url }, 'the operators port is open');
  try {
    const backoff = { initialMs: RETRY_MS_MIN, delayMsMax: RETRY_MS_MAX, totalMsMax: startWaitMs };
    await retryWithBackoff(look, { isRetryable: isAway, backoff, signal });
  } finally {
    await ops.close();
  }
}
