import { setTimeout } from 'node:timers/promises';
import type { LoadedConfig } from '../../../config/load.ts';
import { switchFlag } from '../../../config/options/option.ts';
import {
  kafkaOptions,
  processOptions,
  registryOptions,
  streamOptions,
  workerLimits,
} from '../../../config/options/options.ts';
import { asAdmin } from '../../../kafka/admin/admin-client.ts';
import { retryWithBackoff } from '../../../kafka/cluster/retry.ts';
import { createLogger, type Logger } from '../../../ops/logger.ts';
import { createMetrics, type Metrics } from '../../../ops/metrics.ts';
import { type OpsServer, startOpsServer } from '../../../ops/ops-server.ts';
import { ServiceError } from '../../../ops/service-error.ts';
import {
  aborted,
  type CommandIo,
  DONE,
  type ExitCode,
  FAILED,
  withDeadline,
} from '../../../tools/terminal/command-io.ts';

const { shutdownMsMax, startWaitMs, sessionMs } = workerLimits;
const { opsHost, opsPort, logLevel } = processOptions;

/** Options of every service that reads a topic as the one owner of its state. */
export const readerOptions = {
  ...kafkaOptions,
  ...registryOptions,
  ...streamOptions,
  shutdownMsMax,
  startWaitMs,
  sessionMs,
  opsHost,
  opsPort,
  logLevel,
};

/** First position of such a service. */
export const fromBeginning = (what: 'events' | 'scores') => {
  const help = `at the first start, also reads the existing ${what}`;
  return switchFlag('from-beginning', help);
};

interface CommandService {
  /** null after `stop`; an error when it cannot continue. Absent: it continues until it is stopped. */
  readonly finished?: Promise<Error | null>;
  notReady(): readonly string[];
  /** Problems for an operator although the service is ready. */
  warnings?(): readonly string[];
  stop(): Promise<void>;
}

type OpsPort = Pick<LoadedConfig, 'opsHost' | 'opsPort' | 'opsPortMoves' | 'http' | 'scores'>;

/** Ports above the default one that a process tries. */
const FURTHER_PORTS = 99;
/** The scores are scraped there, if their port is that of the examples. */
const SCORES_PORT = 9465;

interface ServiceToRun {
  readonly config: OpsPort & Pick<LoadedConfig, 'logLevel' | 'worker' | 'kafka'>;
  readonly io: CommandIo;
  /** An HTTP service answers for so long after SIGTERM, not ready any more, and bounds its end itself. */
  readonly drainMs?: number;
  /** False for a service that is ready without Kafka. */
  readonly needsBroker?: boolean;
}

type StartService = (parts: {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly ops: string;
}) => Promise<CommandService>;

const BROKER_RETRY = { initialMs: 250, delayMsMax: 2_000 };

/** Opens the operators' port, waits for a broker, then runs the service until it is stopped or fails. */
export async function runService(
  { config, io, drainMs, needsBroker = true }: ServiceToRun,
  start: StartService,
): Promise<ExitCode> {
  const { shutdownMsMax, startWaitMs } = config.worker;
  const logger = createLogger(config.logLevel);
  const metrics = createMetrics({ collectProcess: true });
  let service: CommandService | null = null;
  let noBroker: string | null = null;
  const reasonsNotReady = () => {
    if (io.stop.aborted) return ['the process is shutting down'];
    return service?.notReady() ?? [noBroker ?? 'the process is starting'];
  };
  const warnings = () => service?.warnings?.() ?? [];
  const ops = await openOpsPort(config, { metrics, logger, reasonsNotReady, warnings });
  const awaitBroker = () =>
    retryWithBackoff(() => asAdmin({ config: config.kafka! }, 'looking for a broker', async () => undefined), {
      isRetryable: (error) => error instanceof ServiceError && error.code === 'broker-unavailable',
      backoff: { ...BROKER_RETRY, totalMsMax: startWaitMs },
      signal: io.stop,
      onRetry(error) {
        if (noBroker === null) logger.warn({ err: error, startWaitMs }, 'no broker reachable, waiting');
        noBroker = (error as Error).message;
        metrics.brokerConnected.set(0);
      },
    });
  try {
    const waiting = needsBroker ? awaitBroker() : Promise.resolve();
    await Promise.race([waiting, aborted(io.stop)]);
    if (io.stop.aborted) {
      // The broker may not answer for a while.
      waiting.catch(() => undefined);
      return DONE;
    }
    const starting = start({ logger, metrics, ops: ops.url });
    service = (await Promise.race([starting, aborted(io.stop)])) ?? null;
    if (service === null) {
      await withDeadline(
        starting.then((late) => late.stop()).catch(() => undefined),
        shutdownMsMax,
      );
      return DONE;
    }
    const stopped = aborted(io.stop);
    const failure = await Promise.race([service.finished ?? stopped, stopped]);
    if (failure) logger.fatal({ err: failure }, 'the process cannot continue');
    // An orchestrator sends requests until it has seen that the service is not ready; a person wants an end.
    else if (drainMs !== undefined && io.stop.reason === 'SIGTERM') await setTimeout(drainMs);
    logger.info(drainMs === undefined ? 'stopping' : 'shutting down: draining requests');
    await (drainMs === undefined ? withDeadline(service.stop(), shutdownMsMax) : service.stop());
    return failure ? FAILED : DONE;
  } finally {
    await ops.close();
  }
}

type OpsReports = Omit<Parameters<typeof startOpsServer>[0], 'host' | 'port' | 'furtherPorts' | 'settings'>;

/** Opens the operators' port of a process, and logs its address. Throws a ServiceError. */
export async function openOpsPort(
  { opsHost: host, opsPort: port, opsPortMoves, http, scores }: OpsPort,
  { logger, ...reports }: OpsReports & { readonly logger: Logger },
): Promise<OpsServer> {
  const above = Array.from({ length: opsPortMoves ? FURTHER_PORTS : 0 }, (_, i) => port + 1 + i);
  const furtherPorts = above.filter((one) => ![http.port, scores.port, SCORES_PORT].includes(one));
  const ops = await startOpsServer({ host, port, furtherPorts, ...reports });
  const { url } = ops;
  const isMoved = port !== 0 && !url.endsWith(`:${port}`);
  if (isMoved) logger.warn({ url, taken: port }, 'OPS_PORT is taken by another program: the next free port is used');
  logger.info({ url }, 'the operators port is open');
  return ops;
}

export function printMadeKey(key: string | null, io: CommandIo): void {
  if (key !== null) io.err(`There was no key. The first one was created and stored; it is shown once: ${key}`);
}
