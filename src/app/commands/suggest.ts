import { readFlags } from '../../config/command-line.ts';
import type { LoadedConfig } from '../../config/config.ts';
import type { OptionValues } from '../../config/given-options.ts';
import { loadProcessConfig } from '../../config/load.ts';
import { commandFlag, withDefault } from '../../config/option.ts';
import { httpUrl } from '../../config/option-kinds.ts';
import { processOptions, prometheusOptions } from '../../config/options.ts';
import { commaList, durationMs, integerFrom, seriesText, text } from '../../config/schema/kinds.ts';
import { timeZone } from '../../config/schema/times.ts';
import { stepAlias } from '../../records/diagnostics/step-alias.ts';
import { holidaysOf, isPlace } from '../../time/holidays/holiday-list.ts';
import { zoneOffsets } from '../../time/local-calendar.ts';
import { csvFlags, csvReading } from '../../tools/csv/flags.ts';
import { contradictedDays } from '../../tools/suggest/contradicted-days.ts';
import { queriesFor } from '../../tools/suggest/prometheus-queries.ts';
import { SeriesColumns } from '../../tools/suggest/series-columns.ts';
import { type Suggestion, suggest } from '../../tools/suggest/suggestion.ts';
import { type SuggestedSource, suggestionText } from '../../tools/suggest/suggestion-text.ts';
import { type CommandIo, DONE, type ExitCode, FAILED } from '../../tools/terminal/command-io.ts';
import { openOutput } from '../../tools/terminal/output-file.ts';
import { addFile } from '../processes/suggest/file-columns.ts';
import { addPrometheus } from '../processes/suggest/prometheus-columns.ts';
import { printProblems, problemsIn, type RunnableCommand } from './command.ts';

/** Observations that are looked at: 16 bytes each. */
const OBSERVATIONS_MAX = 20_000_000;
const WEEK_MS = 7 * 86_400_000;
const RATE_WINDOW_MS_MIN = 300_000;

const { group: _, ...fileFlags } = csvFlags;
const ownFlags = {
  ...fileFlags,
  prometheus: commandFlag('prometheus', httpUrl, 'in place of FILE: the URL of a Prometheus, asked for --match'),
  match: commandFlag('match', seriesText, 'series of --prometheus, as matchers in braces: {job="node"}'),
  step: withDefault(commandFlag('step', durationMs, 'step at which --prometheus is asked'), 300_000),
  weeks: withDefault(commandFlag('weeks', integerFrom(1, 52), 'weeks of --prometheus that are looked at'), 4),
  timezone: commandFlag('timezone', timeZone, 'whose days series with a season follow (default: that of this machine)'),
  holidays: commandFlag(
    'holidays',
    commaList('places whose holidays are known, such as DE or DE-BY', isPlace),
    'places whose days off the series follow; days that contradict them are named',
  ),
  out: commandFlag('out', text, 'file for the detectors (default: standard output)'),
};

type OwnValues = OptionValues<typeof ownFlags>;

interface Asked {
  readonly values: OwnValues;
  readonly config: LoadedConfig;
}

/** Looks at data and writes a detectors file for it. */
export const suggestCommand: RunnableCommand = {
  operands: ['[FILE]'],
  options: [...Object.values(ownFlags), ...Object.values(prometheusOptions), processOptions.logLevel],
  async run([path], flags, io) {
    const loaded = loadProcessConfig(flags, []);
    const read = readFlags(flags, ownFlags);
    if (loaded.kind === 'problems' || read.kind === 'problems') return printProblems(problemsIn(loaded, read), io);
    const { values } = read;
    const problems = contradictions(path, values);
    if (problems.length > 0) return printProblems(problems, io);
    try {
      return await write(path, { values, config: loaded.config }, io);
    } catch (error) {
      if (!io.stop.aborted) throw error;
      io.err('Stopped before the end.');
      return DONE;
    }
  },
};

async function write(path: string | undefined, { values, config }: Asked, io: CommandIo): Promise<ExitCode> {
  const { columns, sources, isWhole, named } = await readData(path, { values, config }, io);
  if (columns.observations === 0) {
    io.err('There is nothing to look at.');
    return FAILED;
  }
  const suggestion = suggest(columns);
  const { timezone = Intl.DateTimeFormat().resolvedOptions().timeZone } = values;
  const holidays = heldAgainst(columns, suggestion, values.holidays ?? [], timezone);
  const context = { command: `suggest ${named}`, sources, timeZone: timezone, holidays };
  const written = suggestionText(suggestion, context);
  if (suggestion.detectors.length === 0) {
    io.err(`There is nothing to watch in ${suggestion.series} series:`);
    for (const line of written.split('\n').filter((line) => line.startsWith('# - '))) io.err(line.slice(2));
    return FAILED;
  }
  if (values.out === undefined) io.out(written.trimEnd());
  else {
    const output = await openOutput(values.out);
    await output.appendFile(written);
    await output.close();
  }
  return isWhole ? DONE : FAILED;
}

/** Days of the data that are not as the holidays of the places say. */
function heldAgainst(
  columns: SeriesColumns,
  { beginMs, endMs }: Suggestion,
  places: readonly string[],
  timeZone: string,
) {
  const [first, last] = [beginMs, endMs].map((ms) => new Date(ms).getUTCFullYear());
  const years = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const listed = places
    .flatMap((place) => holidaysOf(place, years)!)
    .filter(({ from, type }) => from === null && type === 'public');
  const contradicted = places.length === 0 ? [] : contradictedDays(columns, { offsets: zoneOffsets(timeZone), listed });
  return { places, contradicted };
}

function contradictions(path: string | undefined, { prometheus, match }: OwnValues): string[] {
  const given = [path, prometheus].filter((place) => place !== undefined).length;
  return [
    ...(given === 1 ? [] : [`give one of FILE and --prometheus; ${given} are given`]),
    ...(prometheus !== undefined && !match?.trimStart().startsWith('{')
      ? ['--match must be matchers of the series in braces, such as {job="node"}, as --prometheus is given']
      : []),
    ...(match !== undefined && prometheus === undefined ? ['--match is set, but --prometheus is not'] : []),
  ];
}

interface ReadData {
  readonly columns: SeriesColumns;
  readonly sources: readonly SuggestedSource[];
  /** Whether all of it could be used. */
  readonly isWhole: boolean;
  /** As the command line names it. */
  readonly named: string;
}

async function readData(path: string | undefined, { values, config }: Asked, io: CommandIo): Promise<ReadData> {
  const columns = new SeriesColumns(OBSERVATIONS_MAX);
  const { prometheus: url, match: query = '', step: stepMs, weeks } = values;
  if (url !== undefined) {
    const { prometheusHeaders: headers } = config;
    await addPrometheus(columns, { url, headers, query, stepMs, historyMs: weeks * WEEK_MS }, io.stop);
    const seconds = (ms: number) => `${ms / 1_000}s`;
    const window = seconds(Math.max(RATE_WINDOW_MS_MIN, stepMs));
    const queries = queriesFor(columns, { url, match: query, step: seconds(stepMs), window });
    if (queries.left.length > 0) {
      io.err(`No source asks for these counters and buckets of histograms: ${queries.left.join(', ')}`);
    }
    const named = `--prometheus ${url} --match ${query} --step ${stepAlias(stepMs)}`;
    return { columns: queries.columns, sources: queries.sources, isWhole: true, named };
  }
  const isWhole = await addFile(
    columns,
    { path: path!, reading: csvReading(path!, values) },
    { say: io.err, stop: io.stop },
  );
  return { columns, sources: [], isWhole, named: path! };
}
