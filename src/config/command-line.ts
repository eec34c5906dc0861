import { parseArgs } from 'node:util';
import { type Flags, GivenOptions, type Option, type OptionSchema, type OptionValues } from './options/option.ts';
import { boolean } from './schema/kinds.ts';
import { nearestOf, notKnown } from './schema/problems.ts';

export interface ListedCommand {
  readonly name: string;
  /** One sentence without a full stop. */
  readonly summary: string;
  /** Its words on a command line that does something useful. */
  readonly example?: string;
}

export interface Command {
  /** Names of the words after the command (`ACTION`); in brackets where they may be left out (`[NAME]`). */
  readonly operands?: readonly string[];
  /** The options it reads; `--help` lists them. */
  readonly options: readonly (Option<unknown> & { readonly fallback?: unknown })[];
}

type CommandLine<C extends Command> =
  | { readonly kind: 'run'; readonly command: C; readonly operands: readonly string[]; readonly flags: Flags }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'wrong-use'; readonly problems: readonly string[] };

const PROGRAM = 'npm start --';
const HELP = 'help';

/**
 * Parses `COMMAND [OPERANDS] [--flags]`. Values of flags are checked later, together with the environment.
 * @param command the one that `args` begin with; null if none of the list has that name
 */
export function parseCommandLine<C extends Command>(
  [name, ...rest]: readonly string[],
  list: readonly ListedCommand[],
  command: C | null,
): CommandLine<C> {
  if (name === undefined || name === `--${HELP}` || name === '-h') return { kind: 'help', text: overview(list) };
  const listed = list.find((each) => each.name === name);
  if (listed === undefined || command === null) {
    const names = list.map((each) => each.name);
    return { kind: 'wrong-use', problems: [notKnown(name, 'command', nearestOf(name, names))] };
  }
  const { flags, operands, problems } = readArguments(rest, command);
  if (flags[HELP]) return { kind: 'help', text: commandHelp(listed, command, operands.includes('all')) };
  return problems.length > 0 ? { kind: 'wrong-use', problems } : { kind: 'run', command, operands, flags };
}

function readArguments(args: readonly string[], { options, operands: expected = [] }: Command) {
  const kinds = new Map(options.flatMap(({ flag, kind }) => (flag === null ? [] : [[flag, kind]])));
  const { tokens, positionals: operands } = parseArgs({
    args: [...args],
    options: {
      ...Object.fromEntries(
        [...kinds].map(([flag, kind]) => [flag, { type: kind === boolean ? 'boolean' : 'string' }]),
      ),
      [HELP]: { type: 'boolean', short: 'h' },
    },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const flags: Record<string, string | boolean> = {};
  const problems: string[] = [];
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    if (name === HELP) flags[HELP] = true;
    else if (!kinds.has(name)) {
      const nearest = nearestOf(name, [...kinds.keys()]);
      problems.push(notKnown(rawName, 'flag', nearest === null ? null : `--${nearest}`));
    } else if (name in flags) problems.push(`${rawName} is given twice`);
    else if (kinds.get(name) !== boolean && (value === undefined || (!inlineValue && value.startsWith('--')))) {
      problems.push(`${rawName} must have a value`);
    } else flags[name] = value ?? true;
  }
  for (const operand of expected.slice(operands.length)) {
    if (!operand.startsWith('[')) problems.push(`${operand} is missing`);
  }
  for (const surplus of operands.slice(expected.length))
    problems.push(`${JSON.stringify(surplus)} is one word too many`);
  return { flags, operands, problems };
}

type ReadFlags<O> =
  | { readonly kind: 'values'; readonly values: OptionValues<O> }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

/** Parses the flags that only this command has. Reports all problems at once. */
export function readFlags<O extends OptionSchema>(flags: Flags, own: O): ReadFlags<O> {
  const { values, problems } = new GivenOptions(own, { flags, env: {}, readFile: () => '' });
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'values', values };
}

function overview(commands: readonly ListedCommand[]): string {
  const rows = commands.map(({ name, summary }) => [name, summary] as const);
  return `${PROGRAM} COMMAND [--flags]\n\n${table(rows)}\n\n${PROGRAM} COMMAND --help shows its flags.`;
}

/** Options of a command that fit on a screen: all of them are shown then. */
const ROWS_MAX = 16;

/** Summary, example and options of a command, those that one needs first at the top: flag, variable, default. */
function commandHelp(
  { name, summary, example }: ListedCommand,
  { operands = [], options }: Command,
  isWhole: boolean,
): string {
  const use = [PROGRAM, name, ...operands, ...(options.length > 0 ? ['[--flags]'] : [])].join(' ');
  const [first, others] = [true, false].map((wanted) =>
    options.filter(({ env, isFirst = env === null }) => isFirst === wanted),
  );
  const shown = isWhole || options.length <= ROWS_MAX ? [...first, ...others] : first;
  const rows = shown.map(({ flag, env, help, fallback }) => {
    // A switch is off unless it is given.
    const shownDefault = fallback === undefined || fallback === false ? '' : ` (${fallback})`;
    return [flag === null ? '' : `--${flag}`, env ?? '', `${help}${shownDefault}`];
  });
  const left = options.length - shown.length;
  return [
    use,
    `${summary}.`,
    ...(example === undefined ? [] : [`Example: ${PROGRAM} ${name} ${example}`.trimEnd()]),
    ...(rows.length === 0
      ? []
      : ['Flags take precedence over variables, and variables over the detectors file.', table(rows)]),
    ...(left === 0 ? [] : [`${PROGRAM} ${name} --help all lists ${left} more.`]),
  ].join('\n\n');
}

function table(rows: readonly (readonly string[])[]): string {
  return alignedLines(rows)
    .map((line) => `  ${line}`)
    .join('\n');
}

/** Left-aligned columns, two spaces apart. */
export function alignedLines(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column])).join('  '));
  return lines.map((line) => line.trimEnd());
}
