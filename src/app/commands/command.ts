import { type Command, readFlags } from '../../config/command-line.ts';
import type { ConfigResult, KafkaConfig, StreamConfig } from '../../config/config.ts';
import type { RemoteWriteConfig } from '../../config/connections.ts';
import { type ConfigSources, type LoadedConfig, loadProcessConfig } from '../../config/load.ts';
import { type Flags, type OptionSchema, type OptionValues, switchFlag } from '../../config/options/option.ts';
import { ServiceError } from '../../ops/service-error.ts';
import type { CsvPull } from '../../tools/csv/observations.ts';
import { type CommandIo, DONE, type ExitCode, FAILED, WRONG_USE } from '../../tools/terminal/command-io.ts';

export const jsonFlag = switchFlag('json', 'prints one JSON record a line');

/** A command that can run. `main.ts` prints the message of a ServiceError that it throws. */
export interface RunnableCommand extends Command {
  run(operands: readonly string[], flags: Flags, io: CommandIo): Promise<ExitCode>;
}

type Need = ConfigSources['requires'][number];

/** The configuration of a command that requires some options. */
type LoadedWith<N extends Need> = LoadedConfig &
  ('brokers' extends N ? { readonly kafka: KafkaConfig } : unknown) &
  ('remoteWriteUrl' extends N ? { readonly remoteWrite: RemoteWriteConfig } : unknown);

interface CommandInput<O, N extends Need> {
  readonly operands: readonly string[];
  readonly flags: Flags;
  /** Values of the flags in `own`. */
  readonly values: OptionValues<O>;
  readonly config: LoadedWith<N>;
}

interface CommandDefinition<O extends OptionSchema, N extends Need> extends Pick<Command, 'operands'> {
  readonly own: O;
  readonly settings: OptionSchema;
  readonly requires?: readonly N[];
  run(input: CommandInput<O, N>, io: CommandIo): Promise<ExitCode>;
}

/** A command that runs with its flags and its configuration. All problems of both are printed together. */
export function command<O extends OptionSchema, N extends Need = never>(
  definition: CommandDefinition<O, N>,
): RunnableCommand {
  const { operands = [], own, settings, requires = [], run } = definition;
  return {
    operands,
    options: [...Object.values(own), ...Object.values(settings)],
    async run(operands, flags, io) {
      const loaded = loadProcessConfig(flags, requires);
      const read = readFlags(flags, own);
      if (loaded.kind === 'problems' || read.kind === 'problems') return printProblems(problemsIn(loaded, read), io);
      return run({ operands, flags, values: read.values, config: loaded.config as LoadedWith<N> }, io);
    },
  };
}

type Result = { readonly kind: string; readonly problems?: readonly string[] } | null;

/** The problems of several results, in their order. */
export function problemsIn(...results: readonly Result[]): readonly string[] {
  return results.flatMap((result) => result?.problems ?? []);
}

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
