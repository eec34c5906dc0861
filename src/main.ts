import type { RunnableCommand } from './app/commands/command.ts';
import { type ListedCommand, parseCommandLine } from './config/command-line.ts';
import { keepCompiledModules, refuseReports } from './config/process-environment.ts';
import { ServiceError } from './ops/service-error.ts';
import { type CommandIo, DONE, FAILED, WRONG_USE } from './tools/terminal/command-io.ts';

interface NamedCommand extends ListedCommand {
  load(): Promise<RunnableCommand>;
}

/** The commands, as `--help` lists them. Each is loaded when it is used: its modules take time and memory. */
const COMMANDS: readonly NamedCommand[] = [
  {
    name: 'start',
    summary: 'Runs a demo of 40 series with HTTP, and unless KAFKA_BROKERS is set a local Kafka (Java 17, Maven)',
    example: '',
    load: async () => (await import('./app/commands/services/start.ts')).startCommand,
  },
  {
    name: 'worker',
    summary: 'Scores the series of a detectors file',
    example: '--kafka-brokers 127.0.0.1:9092 --detectors detectors.yaml',
    load: async () => (await import('./app/commands/services/worker.ts')).workerCommand,
  },
  {
    name: 'serve',
    summary: 'Serves the HTTP API and the console; with KAFKA_BROKERS, also the scores and events of the stream',
    example: '--kafka-brokers 127.0.0.1:9092',
    load: async () => (await import('./app/commands/services/serve.ts')).serveCommand,
  },
  {
    name: 'receive',
    summary: 'Receives points (remote write, OpenTelemetry, Influx, JSON lines) and writes them to the input topic',
    example: '--kafka-brokers 127.0.0.1:9092 --http-port 8081',
    load: async () => (await import('./app/commands/services/receive.ts')).receiveCommand,
  },
  {
    name: 'poll',
    summary: 'Queries Prometheus (`source` in the detectors file) and writes the results to the input topic',
    example: '--kafka-brokers 127.0.0.1:9092 --detectors detectors.yaml',
    load: async () => (await import('./app/commands/services/poll.ts')).pollCommand,
  },
  {
    name: 'alerts',
    summary: 'Sends events to webhooks, Slack, PagerDuty, Alertmanager and mail',
    example: '--kafka-brokers 127.0.0.1:9092 --routes alerts.yaml',
    load: async () => (await import('./app/commands/services/alerts.ts')).alertsCommand,
  },
  {
    name: 'incidents',
    summary: 'Groups related events into incidents and ranks the series where they may have begun',
    example: '--kafka-brokers 127.0.0.1:9092 --from-beginning',
    load: async () => (await import('./app/commands/services/incidents.ts')).incidentsCommand,
  },
  {
    name: 'remote-write',
    summary: 'Writes forecasts, intervals and grades to Prometheus, with their event times',
    example: '--kafka-brokers 127.0.0.1:9092 --remote-write-url http://127.0.0.1:9090/api/v1/write',
    load: async () => (await import('./app/commands/services/write-bands.ts')).remoteWriteCommand,
  },
  {
    name: 'feed',
    summary: 'Writes the observations of a CSV file (- is standard input) to the input topic',
    example: 'history.csv --kafka-brokers 127.0.0.1:9092',
    load: async () => (await import('./app/commands/files/feed.ts')).feedCommand,
  },
  {
    name: 'watch',
    summary: 'Prints scores, events or incidents as they are committed',
    example: '--kafka-brokers 127.0.0.1:9092 --events --until-now',
    load: async () => (await import('./app/commands/watch.ts')).watchCommand,
  },
  {
    name: 'backtest',
    summary: 'Scores a CSV file (- is standard input) as the stream would, without Kafka',
    example: 'history.csv --freq 5min --out scores.csv --report report.html',
    load: async () => (await import('./app/commands/files/backtest.ts')).backtestCommand,
  },
  {
    name: 'suggest',
    summary: 'Writes a detectors file for the series of a CSV file or a Prometheus, with reasons as comments',
    example: 'history.csv --out detectors.yaml',
    load: async () => (await import('./app/commands/files/suggest.ts')).suggestCommand,
  },
  {
    name: 'holidays',
    summary: 'Lists the holidays of a place that `holidays` of a detector can name: DE, DE-BY, DE-BY-KATH',
    example: 'DE-BY 2026',
    load: async () => (await import('./app/commands/holidays.ts')).holidaysCommand,
  },
  {
    name: 'broker',
    summary: 'Runs a single-node Apache Kafka on this machine (Java 17 and Maven), with its data in DATA_DIR',
    example: '--data-dir data/own',
    load: async () => (await import('./app/commands/broker.ts')).brokerCommand,
  },
  {
    name: 'topics',
    summary: 'Creates missing topics and checks all of them',
    example: '--kafka-brokers 127.0.0.1:9092 --partitions 8',
    load: async () => (await import('./app/commands/topics.ts')).topicsCommand,
  },
  {
    name: 'history',
    summary: 'Exports the scores that `serve` keeps in DATA_DIR to a Parquet file; stop `serve` first',
    example: 'export --from 2026-01-01T00:00:00Z --out scores.parquet',
    load: async () => (await import('./app/commands/export-history.ts')).historyCommand,
  },
  {
    name: 'state',
    summary: 'Inspects, exports, resets, repartitions or adopts the state of workers; stop all of them first',
    example: 'inspect --kafka-brokers 127.0.0.1:9092 --detectors detectors.yaml',
    load: async () => (await import('./app/commands/state.ts')).stateCommand,
  },
  {
    name: 'keys',
    summary: 'Manages API keys: create, list, revoke KEY, credit KEY, role KEY (KEY: an id, or the start of one)',
    example: 'create --name grafana --role viewer',
    load: async () => (await import('./app/commands/keys.ts')).keysCommand,
  },
  {
    name: 'models',
    summary: 'Verifies the model folders, runs each model once, and lists the models that a detector can name',
    example: '',
    load: async () => (await import('./app/commands/models.ts')).modelsCommand,
  },
];

/** Exit code after a second Ctrl-C, which does not wait for an orderly shutdown. */
const EXIT_INTERRUPTED = 130;
/** npm forwards the signal of a Ctrl-C that the terminal has sent to every process already. */
const SAME_SIGNAL_MS = 500;

/** Requests that a command no longer waits for may keep the process alive for at most this time. */
const LEFTOVERS_MS_MAX = 500;

/** Returns to the start of the line, and clears it: a line of progress may be there. */
const CLEARED_LINE = '\r\u001b[2K';

refuseReports();
keepCompiledModules();
process.exitCode = await main(process.argv.slice(2));
setTimeout(() => process.exit(), LEFTOVERS_MS_MAX).unref();

async function main(args: readonly string[]): Promise<number> {
  if (args[0] === '--version') {
    const { PACKAGE, VERSION } = await import('./ops/version.ts');
    console.log(`${PACKAGE} ${VERSION}`);
    return DONE;
  }
  const [name, ...rest] = args.length === 0 ? ['start'] : args[0] === 'help' ? [...args.slice(1, 2), '--help'] : args;
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
  const status = (text: string) => void process.stderr.write(`${CLEARED_LINE}${text}`);
  const clear = process.stderr.isTTY ? CLEARED_LINE : '';
  const io: CommandIo = {
    out: (text) => console.log(process.stdout.isTTY ? `${clear}${text}` : text),
    err: (text) => console.error(`${clear}${text}`),
    ...(process.stderr.isTTY && { status }),
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
