import { typeOf } from '../../../alerts/message/notification.ts';
import { oneLine } from '../../../alerts/message/plain-text.ts';
import { placeOf } from '../../../alerts/message/template-fields.ts';
import type { Routes } from '../../../alerts/routes/alert-route.ts';
import { readDeadAlerts } from '../../../alerts/state/outbox.ts';
import { sendTestAlert } from '../../../alerts/test-alert.ts';
import { readFlags } from '../../../config/command-line.ts';
import type { KafkaConfig } from '../../../config/config.ts';
import { loadProcessConfig, routesPath } from '../../../config/load.ts';
import { commandFlag, switchFlag } from '../../../config/options/option.ts';
import { alertOptions, processOptions, storeOptions } from '../../../config/options/options.ts';
import { changeOptions } from '../../../config/options/topic-options.ts';
import { text } from '../../../config/schema/kinds.ts';
import { mustBe, nearestOf } from '../../../config/schema/problems.ts';
import { readTail } from '../../../kafka/fetch/topic-tail.ts';
import { type CommandIo, DONE, type ExitCode, FAILED } from '../../../tools/terminal/command-io.ts';
import { formatTime } from '../../../tools/terminal/score-line.ts';
import { loadRoutes, runAlerts, stateTopicOf } from '../../processes/alerts/run-alerts.ts';
import { jsonFlag, printProblems, problemsIn, type RunnableCommand } from '../command.ts';
import { fromBeginning, readerOptions, runService } from './run-service.ts';

const ownFlags = {
  fromBeginning: fromBeginning('events'),
  deadLetters: switchFlag('dead-letters', 'lists failed notifications, then exits'),
  redeliver: switchFlag('redeliver', 'queues failed notifications again, then continues'),
  check: switchFlag('check', 'checks the routes file, then exits'),
  test: commandFlag('test', text, 'sends a test message to this receiver, prints its answer, then exits'),
  json: { ...jsonFlag, help: 'with --dead-letters: one JSON record a line' },
};

/** Sends the events of a cluster to the receivers of a routes file until it is stopped. */
export const alertsCommand: RunnableCommand = {
  options: Object.values({
    ...ownFlags,
    ...alertOptions,
    ...changeOptions,
    ...readerOptions,
    ...storeOptions,
    dataDir: processOptions.dataDir,
  }),
  async run(_operands, flags, io) {
    const read = readFlags(flags, ownFlags);
    const needsKafka = read.kind === 'values' && !read.values.check && read.values.test === undefined;
    const loaded = loadProcessConfig(flags, needsKafka ? ['brokers', 'routes'] : ['routes']);
    const routes = loadRoutes(routesPath(flags));
    if (read.kind === 'problems' || loaded.kind === 'problems' || routes?.kind !== 'config') {
      return printProblems(problemsIn(read, loaded, routes), io);
    }
    const { deadLetters, redeliver, check, test, json } = read.values;
    if (test !== undefined) return testReceiver(routes.config, test, io);
    if (check) return printRoutes(loaded.config.routes!, routes.config, io);
    const config = { ...loaded.config, kafka: loaded.config.kafka! };
    if (deadLetters)
      return printDeadLetters({ kafka: config.kafka, stateTopic: stateTopicOf(routes.config, config), json }, io);
    const from = read.values.fromBeginning ? 'earliest' : 'latest';
    const sending = { config, routes: routes.config, from, redeliver } as const;
    return runService({ config, io }, async ({ logger, metrics }) => {
      const service = await runAlerts({ ...sending, metrics, logger });
      logger.info({ routes: routes.config.routes.length }, 'alerts started');
      return service;
    });
  },
};

/** `alerts --check`: reports what a routes file has that is right. */
function printRoutes(path: string, { routes, receivers }: Routes, io: CommandIo): ExitCode {
  const names = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name).join(', ');
  io.out(`${path} is valid. Routes: ${names(routes)}. Receivers: ${names(receivers)}.`);
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

const RECORDS_MAX = 10_000_000;
const SUBJECTS_SHOWN_MAX = 3;

/** Prints the dead letters, oldest first, without affecting the process that sends. */
async function printDeadLetters(
  { kafka, stateTopic, json }: { readonly kafka: KafkaConfig; readonly stateTopic: string; readonly json: boolean },
  io: CommandIo,
): Promise<ExitCode> {
  const records = await readTail({ config: kafka }, { topic: stateTopic, partition: 0, recordsMax: RECORDS_MAX });
  const deadLetters = readDeadAlerts(
    records.map(({ key, value }) => ({ key: key?.toString() ?? '', json: value?.toString() ?? null })),
  );
  for (const { notification, reason, detail, atMs } of deadLetters) {
    if (json) {
      io.out(JSON.stringify({ atMs, reason, detail, notification }));
      continue;
    }
    const { receiver, route, id, notices } = notification;
    const subjects = notices.slice(0, SUBJECTS_SHOWN_MAX).map((notice) => oneLine(placeOf(notice)));
    const more = notices.length > SUBJECTS_SHOWN_MAX ? ` and ${notices.length - SUBJECTS_SHOWN_MAX} more` : '';
    const what = `${typeOf(notification)} ${subjects.join(', ')}${more}`;
    io.out(`${formatTime(atMs)}  ${receiver}  ${route}  ${what}  ${reason}: ${detail}  ${id}`);
  }
  io.err(deadLetters.length === 0 ? 'There are no dead letters.' : `${deadLetters.length} dead letters.`);
  return DONE;
}
