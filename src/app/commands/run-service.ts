import type { KafkaConfig, LoadedConfig } from '../../config/config.ts';
import { commandFlag, withDefault } from '../../config/option.ts';
import { kafkaOptions, processOptions, registryOptions, streamOptions, workerLimits } from '../../config/options.ts';
import { boolean } from '../../config/schema/kinds.ts';
import { createLogger, type Logger } from '../../ops/logger.ts';
import { createMetrics, type Metrics } from '../../ops/metrics.ts';
import { startOpsServer } from '../../ops/ops-server.ts';
import { aborted, type CommandIo, DONE, type ExitCode, FAILED, withDeadline } from '../../tools/terminal/command-io.ts';
import { awaitBrokers } from '../processes/await-brokers.ts';

const { shutdownMsMax, startWaitMs, sessionMs } = workerLimits;
const { opsHost, opsPort, logLevel } = processOptions;

/** Options of every service that reads a topic as the one owner of its state. */
export const readerOptions = [
  ...Object.values(kafkaOptions),
  ...Object.values(registryOptions),
  ...Object.values(streamOptions),
  ...[shutdownMsMax, startWaitMs, sessionMs, opsHost, opsPort, logLevel],
];

/** Where such a service begins at its first start. */
export const fromBeginning = (what: 'events' | 'scores') =>
  withDefault(
    commandFlag('from-beginning', boolean, `at the first start, also the ${what} that are there already`),
    false,
  );

/** What a command runs until it is stopped. */
interface CommandService {
  /** null after `stop`; an error when it cannot continue. */
  readonly finished: Promise<Error | null>;
  /** One sentence each. */
  notReady(): readonly string[];
  /** What an operator should look at although the service is ready. */
  warnings?(): readonly string[];
  stop(): Promise<void>;
}

/** What a service is started with: what it reports to, and the address of the operators' port. */
interface ServiceParts {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly ops: string;
}

/** What a process needs before it reaches Kafka. */
type ProcessConfig = Pick<LoadedConfig, 'opsHost' | 'opsPort' | 'worker'> & { readonly kafka: KafkaConfig | null };

interface ServiceToRun {
  readonly config: ProcessConfig & Pick<LoadedConfig, 'logLevel'>;
  /** Why it is not ready before it has started. */
  readonly starting: string;
  /** What the log says when it ends by a failure. */
  readonly failed: string;
  start(parts: ServiceParts): Promise<CommandService>;
}

/** Whether a broker answers; false where the command was stopped before. Throws the reason after `startWaitMs`. */
export async function brokersAnswer(config: ProcessConfig, logger: Logger, { stop }: CommandIo): Promise<boolean> {
  const waiting = awaitBrokers(config, { kafka: config.kafka!, logger, signal: stop });
  await Promise.race([waiting, aborted(stop)]);
  // The broker may not answer for a while.
  if (stop.aborted) waiting.catch(() => undefined);
  return !stop.aborted;
}

/** Waits for a broker, opens the operators' port, then runs the service until it is stopped or fails. */
export async function runService({ config, starting, failed, start }: ServiceToRun, io: CommandIo): Promise<ExitCode> {
  const { opsHost: host, opsPort: port, logLevel, worker } = config;
  const logger = createLogger(logLevel);
  if (!(await brokersAnswer(config, logger, io))) return DONE;
  const metrics = createMetrics({ collectProcess: true });
  let service: CommandService | null = null;
  const reasonsNotReady = () => service?.notReady() ?? [starting];
  const warnings = () => service?.warnings?.() ?? [];
  const ops = await startOpsServer({ host, port, metrics, reasonsNotReady, warnings });
  try {
    logger.info({ url: ops.url }, 'the operators port is open');
    service = await start({ logger, metrics, ops: ops.url });
    const failure = await Promise.race([service.finished, aborted(io.stop)]);
    if (failure) logger.fatal({ err: failure }, failed);
    else logger.info('stopping');
    await withDeadline(service.stop(), worker.shutdownMsMax);
    return failure ? FAILED : DONE;
  } finally {
    await ops.close();
  }
}
