import type { Command } from '../../config/command-line.ts';
import type { ConfigResult, StreamConfig } from '../../config/config.ts';
import type { Flags } from '../../config/given-options.ts';
import { commandFlag, withDefault } from '../../config/option.ts';
import { boolean } from '../../config/schema/kinds.ts';
import { ServiceError } from '../../ops/service-error.ts';
import type { CsvPull } from '../../tools/csv/pull.ts';
import { type CommandIo, DONE, type ExitCode, FAILED, WRONG_USE } from '../../tools/terminal/command-io.ts';

/** Flag of commands that list records. */
export const jsonFlag = withDefault(commandFlag('json', boolean, 'one JSON record a line'), false);

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
  io.err(problemsText(problems));
  return WRONG_USE;
}

function problemsText(problems: readonly string[]): string {
  const places = problems.length === 1 ? '' : ` in ${problems.length} places`;
  return [`The configuration is wrong${places}:`, ...problems.map((problem) => `  ${problem}`)].join('\n');
}

/** Exit code of a command that has read a file. */
export function exitCodeOf({ hasColumns, refusals, problems }: CsvPull): ExitCode {
  if (!hasColumns) return WRONG_USE;
  return refusals.count > 0 || problems.length > 0 ? FAILED : DONE;
}

/** The configuration. Throws a ServiceError with all problems of one that is wrong. */
export function configOf<C>(result: ConfigResult<C>): C {
  if (result.kind === 'config') return result.config;
  throw new ServiceError('configuration', problemsText(result.problems));
}

/** Reason why a command cannot write records of one value to the input; null if it can. */
export function problemOfInput({ format, values }: StreamConfig['input'], command: string): string | null {
  if (format === 'json' && values === undefined) return null;
  const found = format === 'json' ? 'input.values is set' : `input.format is ${format}`;
  return `${found}: ${command} writes json of one value each, so it needs such an input`;
}
