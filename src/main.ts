import type { RunnableCommand } from './app/commands/command.ts';
import { type ListedCommand, parseCommandLine } from './config/command-line.ts';
import { keepCompiledModules, refuseReports } from './config/process-environment.ts';
import { ServiceError } from './ops/service-error.ts';
import { type CommandIo, FAILED, WRONG_USE } from './tools/terminal/command-io.ts';

interface NamedCommand extends ListedCommand {
  load(): Promise<RunnableCommand>;
}

/** The commands, as `--help` lists them. Each is loaded where it is used: its modules take time and memory. */
const COMMANDS: readonly NamedCommand[] = [
  {
    name: 'start',
    summary:
      'Scores a demo of 40 series and shows the scores, on a local Kafka (Java 17 and Maven) unless KAFKA_BROKERS is ' +
      'set, and serves HTTP',
    load: async () => (await import('./app/commands/start.ts')).startCommand,
  },
  {
    name: 'worker',
    summary: 'Scores the series of a detectors file on the cluster of KAFKA_BROKERS',
    load: async () => (await import('./app/commands/worker.ts')).workerCommand,
  },
  {
    name: 'serve',
    summary: 'Answers requests of clients over HTTP: detection, forecasts, and with KAFKA_BROKERS what was scored',
    load: async () => (await import('./app/commands/serve.ts')).serveCommand,
  },
  {
    name: 'receive',
    summary:
      'Receives points over HTTP and writes them to the input topic: Prometheus remote write, OpenTelemetry, Influx ' +
      'and Telegraf, JSON lines',
    load: async () => (await import('./app/commands/receive.ts')).receiveCommand,
  },
  {
    name: 'poll',
    summary:
      'Polls queries of Prometheus into the input topic, as `source` of the detectors file says; one process a group',
    load: async () => (await import('./app/commands/poll.ts')).pollCommand,
  },
  {
    name: 'alerts',
    summary: 'Sends the events of the cluster of KAFKA_BROKERS to webhooks, Slack, PagerDuty, Alertmanager and mail',
    load: async () => (await import('./app/commands/alerts.ts')).alertsCommand,
  },
  {
    name: 'incidents',
    summary:
      'Groups the events of the cluster of KAFKA_BROKERS into incidents, with the places where they may have begun',
    load: async () => (await import('./app/commands/incidents.ts')).incidentsCommand,
  },
  {
    name: 'remote-write',
    summary:
      'Writes what was expected, its bounds and grades to Prometheus at REMOTE_WRITE_URL, with their event times',
    load: async () => (await import('./app/commands/write-bands.ts')).remoteWriteCommand,
  },
  {
    name: 'feed',
    summary:
      'Writes the observations of a CSV file (- reads standard input) to the observations topic of KAFKA_BROKERS',
    load: async () => (await import('./app/commands/feed.ts')).feedCommand,
  },
  {
    name: 'watch',
    summary: 'Shows the scores, events or incidents of the cluster of KAFKA_BROKERS as they are committed',
    load: async () => (await import('./app/commands/watch.ts')).watchCommand,
  },
  {
    name: 'backtest',
    summary: 'Scores the observations of a CSV file (- reads standard input) as the stream would, and writes CSV',
    load: async () => (await import('./app/commands/backtest.ts')).backtestCommand,
  },
  {
    name: 'suggest',
    summary:
      'Looks at a CSV file (- reads standard input), a topic or a Prometheus, and writes a detectors file for its ' +
      'series, with the reasons as comments',
    load: async () => (await import('./app/commands/suggest.ts')).suggestCommand,
  },
  {
    name: 'holidays',
    summary: 'Lists the holidays of a place as `holidays` of a detector takes them: DE, DE-BY, DE-BY-KATH',
    load: async () => (await import('./app/commands/holidays.ts')).holidaysCommand,
  },
  {
    name: 'broker',
    summary: 'Runs a single-node Apache Kafka on this machine (Java 17 and Maven), its data in DATA_DIR',
    load: async () => (await import('./app/commands/broker.ts')).brokerCommand,
  },
  {
    name: 'topics',
    summary: 'Makes the topics that are missing on the cluster of KAFKA_BROKERS, and checks all of them',
    load: async () => (await import('./app/commands/topics.ts')).topicsCommand,
  },
  {
    name: 'history',
    summary: 'export: writes the scores that serve has kept in DATA_DIR to a Parquet file, while it is stopped',
    load: async () => (await import('./app/commands/export-history.ts')).historyCommand,
  },
  {
    name: 'state',
    summary:
      'What a worker would restore, while none runs: inspect, export (kept values as CSV), reset --series GLOB or ' +
      '--partition N (they start over), repartition --partitions N (more of them; all state moves), ' +
      'adopt (state that was copied from another cluster)',
    load: async () => (await import('./app/commands/state.ts')).stateCommand,
  },
  {
    name: 'keys',
    summary:
      'Keys of the HTTP interface: create, list, revoke KEY, credit KEY --credits N, role KEY --role ROLE ' +
      '(KEY: an id, or how it begins)',
    load: async () => (await import('./app/commands/keys.ts')).keysCommand,
  },
  {
    name: 'models',
    summary: 'Verifies the model folders, runs each model on trial, and lists those that a detector may name',
    load: async () => (await import('./app/commands/models.ts')).modelsCommand,
  },
];

/** Exit code after a second Ctrl-C, which does not wait for an orderly shutdown. */
const EXIT_INTERRUPTED = 130;
/** npm forwards the signal of a Ctrl-C that the terminal has sent to every process already. */
const SAME_SIGNAL_MS = 500;

/** Requests that a command no longer waits for may keep the process alive for at most this time. */
const LEFTOVERS_MS_MAX = 500;

refuseReports();
keepCompiledModules();
process.exitCode = await main(process.argv.slice(2));
setTimeout(() => process.exit(), LEFTOVERS_MS_MAX).unref();

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args.length === 0 ? ['start'] : args;
  const command = await COMMANDS.find((each) => each.name === name)?.load();
  const line = parseCommandLine([name, ...rest], COMMANDS, command ?? null);
  switch (line.kind) {
    case 'help':
      console.log(line.text);
      return 0;
    case 'wrong-use':
      for (const problem of line.problems) console.error(problem);
      console.error('npm start -- --help lists the commands, npm start -- COMMAND --help the flags of one.');
      return WRONG_USE;
    case 'run':
      return run(line.command, line.operands, line.flags);
  }
}

async function run(
  command: RunnableCommand,
  operands: readonly string[],
  flags: Parameters<RunnableCommand['run']>[1],
): Promise<number> {
  const stop = new AbortController();
  let stoppedMs = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stop.signal.aborted && performance.now() - stoppedMs > SAME_SIGNAL_MS) process.exit(EXIT_INTERRUPTED);
    if (!stop.signal.aborted) stoppedMs = performance.now();
    stop.abort(signal);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  // The reader of a pipe may end first (`watch | head`): that is an end, not a failure.
  process.stdout.on('error', () => stop.abort());
  const io: CommandIo = {
    out: (text) => console.log(text),
    err: (text) => console.error(text),
    isTerminal: process.stderr.isTTY === true,
    stop: stop.signal,
  };
  // A command that only waits for its user, such as `broker`, must not end when the event loop is empty.
  const waiting = setInterval(() => {}, 2 ** 30);
  try {
    return await command.run(operands, flags, io);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    io.err(error.message);
    return error.code === 'configuration' ? WRONG_USE : FAILED;
  } finally {
    clearInterval(waiting);
  }
}
