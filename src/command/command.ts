import type { Command } from '../config/command-line.ts';
import type { Flags } from '../config/option-reader.ts';

/** The terminal of a command. Results go to `out`, everything else to `err`. */
export interface CommandIo {
  out(line: string): void;
  err(line: string): void;
  /** Aborts on Ctrl-C and SIGTERM. The name of the signal is its reason. */
  readonly stop: AbortSignal;
}

export const DONE = 0;
export const FAILED = 1;
export const WRONG_USE = 2;

export type ExitCode = typeof DONE | typeof FAILED | typeof WRONG_USE;

/** A command that can run. `main.ts` prints the message of a ServiceError that it throws. */
export interface RunnableCommand extends Command {
  run(operands: readonly string[], flags: Flags, io: CommandIo): Promise<ExitCode>;
}

/** Prints every problem of the configuration. */
export function printProblems(problems: readonly string[], io: CommandIo): ExitCode {
  io.err(
    problems.length === 1 ? 'The configuration is wrong:' : `The configuration is wrong in ${problems.length} places:`,
  );
  for (const problem of problems) io.err(`  ${problem}`);
  return WRONG_USE;
}

/** Resolves when `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Waits for an orderly shutdown, at most `ms`. What is not committed by then is scored again by the next owner. */
export async function withDeadline(ending: Promise<void>, ms: number): Promise<void> {
  const { promise: expired, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([ending, expired]);
  clearTimeout(timer);
}
