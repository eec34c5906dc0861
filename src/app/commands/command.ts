import type { Command } from '../../config/command-line.ts';
import type { StreamConfig } from '../../config/config.ts';
import type { Flags } from '../../config/given-options.ts';
import { type CommandIo, type ExitCode, WRONG_USE } from '../../tools/terminal/command-io.ts';

/** A command that can run. `main.ts` prints the message of a ServiceError that it throws. */
export interface RunnableCommand extends Command {
  run(operands: readonly string[], flags: Flags, io: CommandIo): Promise<ExitCode>;
}

type Result = { readonly kind: string; readonly problems?: readonly string[] } | null;

/** The problems of several results, in their order. */
export function problemsIn(...results: readonly Result[]): readonly string[] {
  return results.flatMap((result) => result?.problems ?? []);
}

/** Prints every problem of the configuration. */
export function printProblems(problems: readonly string[], io: CommandIo): ExitCode {
  io.err(
    problems.length === 1 ? 'The configuration is wrong:' : `The configuration is wrong in ${problems.length} places:`,
  );
  for (const problem of problems) io.err(`  ${problem}`);
  return WRONG_USE;
}

/** What of the input keeps a command from writing records of one value to it; null where nothing does. */
export function problemOfInput({ format, values }: StreamConfig['input'], command: string): string | null {
  if (format === 'json' && values === undefined) return null;
  const found = format === 'json' ? 'input.values is set' : `input.format is ${format}`;
  return `${found}: ${command} writes json of one value each, so it needs such an input`;
}
