import type { AlertService } from '../alerts/alert-service.ts';
import type { Routes } from '../alerts/routes/alert-route.ts';
import { sendTestAlert } from '../alerts/test-alert.ts';
import { readFlags } from '../config/command-line.ts';
import type { KafkaConfig, LoadedConfig } from '../config/config.ts';
import { loadProcessConfig, routesPath } from '../config/load.ts';
import {
  alertOptions,
  commandFlag,
  kafkaOptions,
  processOptions,
  registryOptions,
  storeOptions,
  streamOptions,
  withDefault,
  workerLimits,
} from '../config/options.ts';
import { boolean, text } from '../config/schema/kinds.ts';
import { mustBe, nearestOf } from '../config/schema/problems.ts';
import { loadRoutes, runAlerts, stateTopicOf } from '../run/alerts/run-alerts.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { startOpsServer } from '../telemetry/ops-server.ts';
import { aborted, type CommandIo, DONE, type ExitCode, FAILED, withDeadline } from '../terminal/command-io.ts';
import { printProblems, problemsIn, type RunnableCommand } from './command.ts';
import { printDeadLetters } from './dead-alerts.ts';

const ownFlags = {
  fromBeginning: withDefault(
    commandFlag('from-beginning', boolean, 'at the first start, also the events that are there already'),
    false,
  ),
  deadLetters: withDefault(commandFlag('dead-letters', boolean, 'lists what was given up, and ends'), false),
  redeliver: withDefault(commandFlag('redeliver', boolean, 'queues what was given up again, then goes on'), false),
  check: withDefault(commandFlag('check', boolean, 'checks the routes file, and ends'), false),
  test: commandFlag('test', text, 'sends a test message to this receiver, prints its answer, and ends'),
  json: withDefault(commandFlag('json', boolean, 'with --dead-letters: one JSON record a line'), false),
};

const { shutdownMsMax, sessionMs } = workerLimits;
const { opsHost, opsPort, logLevel, dataDir } = processOptions;

/** Sends the events of a cluster to the receivers of a routes file until it is stopped. */
export const alertsCommand: RunnableCommand = {
  name: 'alerts',
  summary: 'Sends the events of the cluster of KAFKA_BROKERS to webhooks, Slack, PagerDuty, Alertmanager and mail',
  options: [
    ...Object.values(ownFlags),
    ...Object.values(alertOptions),
    ...Object.values(kafkaOptions),
    ...Object.values(registryOptions),
    ...Object.values(streamOptions),
    ...Object.values(storeOptions),
    ...[shutdownMsMax, sessionMs, opsHost, opsPort, dataDir, logLevel],
  ],
  async run(_operands, flags, io) {
    const read = readFlags(flags, ownFlags);
    const needsKafka = read.kind === 'values' && !read.values.check && read.values.test === undefined;
    const loaded = loadProcessConfig(flags, needsKafka ? ['brokers', 'routes'] : ['routes']);
    const routes = loadRoutes(routesPath(flags));
    if (read.kind === 'problems' || loaded.kind === 'problems' || routes?.kind !== 'config') {
      return printProblems(problemsIn(read, loaded, routes), io);
    }
    const { fromBeginning, deadLetters, redeliver, check, test, json } = read.values;
    if (test !== undefined) return testReceiver(routes.config, test, io);
    if (check) return printRoutes(loaded.config.routes!, routes.config, io);
    const config = { ...loaded.config, kafka: loaded.config.kafka! };
    if (deadLetters)
      return printDeadLetters({ kafka: config.kafka, stateTopic: stateTopicOf(routes.config, config), json }, io);
    return send({ config, routes: routes.config, from: fromBeginning ? 'earliest' : 'latest', redeliver }, io);
  },
};

interface AlertsToSend {
  readonly config: LoadedConfig & { readonly kafka: KafkaConfig };
  readonly routes: Routes;
  readonly from: 'earliest' | 'latest';
  readonly redeliver: boolean;
}

async function send(sending: AlertsToSend, io: CommandIo): Promise<ExitCode> {
  const { config } = sending;
  const logger = createLogger(config.logLevel);
  const metrics = createMetrics({ collectProcess: true });
  let service: AlertService | null = null;
  const ops = await startOpsServer({
    host: config.opsHost,
    port: config.opsPort,
    metrics,
    reasonsNotReady: () => service?.notReady() ?? ['the alerts are starting'],
  });
  try {
    logger.info({ url: ops.url }, 'the operators port is open');
    service = await runAlerts({ ...sending, metrics, logger });
    logger.info({ routes: sending.routes.routes.length }, 'alerts started');
    const failure = await Promise.race([service.finished, aborted(io.stop)]);
    if (failure) logger.fatal({ err: failure }, 'the alerts cannot continue');
    else logger.info('stopping');
    await withDeadline(service.stop(), config.worker.shutdownMsMax);
    return failure ? FAILED : DONE;
  } finally {
    await ops.close();
  }
}

/** `alerts --check`: reports what a routes file has that is right. */
function printRoutes(path: string, { routes, receivers }: Routes, io: CommandIo): ExitCode {
  const names = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name).join(', ');
  io.out(`${path} is right. Routes: ${names(routes)}. Receivers: ${names(receivers)}.`);
  return DONE;
}

/** `alerts --test RECEIVER`: sends a test message, and prints the answer. */
async function testReceiver(routes: Routes, name: string, io: CommandIo): Promise<ExitCode> {
  const names = routes.receivers.map((receiver) => receiver.name);
  if (!names.includes(name)) {
    const nearest = nearestOf(name, names);
    const problem = mustBe('--test', `a receiver of the routes file (${names.join(', ')})`, name);
    return printProblems([nearest === null ? problem : `${problem}; did you mean ${nearest}?`], io);
  }
  const answers = await sendTestAlert(routes, name, { nowMs: Date.now(), stop: io.stop });
  for (const { type, outcome } of answers) {
    const detail = outcome.kind === 'accepted' ? '' : `: ${outcome.detail}`;
    io.out(`${name}: the test message (${type}) is ${outcome.kind}${detail}`);
  }
  return answers.at(-1)?.outcome.kind === 'accepted' ? DONE : FAILED;
}
