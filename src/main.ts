import type { RunnableCommand } from './command/command.ts';
import { parseCommandLine } from './config/command-line.ts';
import { keepCompiledModules } from './config/compiled-modules.ts';
import { ServiceError } from './service-error.ts';
import { type CommandIo, FAILED, WRONG_USE } from './terminal/command-io.ts';

/** A command is loaded where it is used: a worker has no room for the modules of the HTTP service. */
const COMMANDS: Readonly<Record<string, () => Promise<RunnableCommand>>> = {
  start: async () => (await import('./command/start.ts')).startCommand,
  worker: async () => (await import('./command/worker.ts')).workerCommand,
  serve: async () => (await import('./command/serve.ts')).serveCommand,
  receive: async () => (await import('./command/receive.ts')).receiveCommand,
  alerts: async () => (await import('./command/alerts.ts')).alertsCommand,
  feed: async () => (await import('./command/feed.ts')).feedCommand,
  watch: async () => (await import('./command/watch.ts')).watchCommand,
  backtest: async () => (await import('./command/backtest.ts')).backtestCommand,
  broker: async () => (await import('./command/broker.ts')).brokerCommand,
  topics: async () => (await import('./command/topics.ts')).topicsCommand,
  state: async () => (await import('./command/state.ts')).stateCommand,
  keys: async () => (await import('./command/keys.ts')).keysCommand,
  models: async () => (await import('./command/models.ts')).modelsCommand,
};

/** Exit code after a second Ctrl-C, which does not wait for an orderly shutdown. */
const EXIT_INTERRUPTED = 130;
/** npm forwards the signal of a Ctrl-C that the terminal has sent to every process already. */
const SAME_SIGNAL_MS = 500;

/** Requests that a command no longer waits for may keep the process alive for at most this time. */
const LEFTOVERS_MS_MAX = 500;

keepCompiledModules();
process.exitCode = await main(process.argv.slice(2));
setTimeout(() => process.exit(), LEFTOVERS_MS_MAX).unref();

async function main(args: readonly string[]): Promise<number> {
  const named = args.length === 0 ? ['start'] : args;
  const line = parseCommandLine(named, await commandsOf(named[0]));
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

/** The command of this name; all of them, to be listed, where there is none. */
async function commandsOf(name: string): Promise<readonly RunnableCommand[]> {
  if (Object.hasOwn(COMMANDS, name)) return [await COMMANDS[name]()];
  return Promise.all(Object.values(COMMANDS).map((load) => load()));
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
  const io: CommandIo = { out: (text) => console.log(text), err: (text) => console.error(text), stop: stop.signal };
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
