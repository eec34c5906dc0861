import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadedConfig } from '../../../config/load.ts';
import { commandFlag, type OptionValues, switchFlag } from '../../../config/options/option.ts';
import { httpUrl } from '../../../config/options/option-kinds.ts';
import { processOptions, prometheusOptions } from '../../../config/options/options.ts';
import { commaList, durationMs, integerFrom, seriesText, text } from '../../../config/schema/kinds.ts';
import { timeZone } from '../../../config/schema/times.ts';
import { ServiceError } from '../../../ops/service-error.ts';
import { nextPoll, polled, type SourceState, sourceState, tooLarge } from '../../../pipelines/poll/poll-plan.ts';
import { prometheusRanges } from '../../../pipelines/poll/query-range.ts';
import { stepAlias } from '../../../records/diagnostics/step-alias.ts';
import { holidaysOf, isPlace } from '../../../time/holidays/holiday-list.ts';
import { zoneOffsets } from '../../../time/local-calendar.ts';
import { csvFlags, csvReading } from '../../../tools/csv/flags.ts';
import { openInput } from '../../../tools/csv/input.ts';
import { type CsvReading, pullObservations, readObservations } from '../../../tools/csv/observations.ts';
import { contradictedDays } from '../../../tools/suggest/contradicted-days.ts';
import { queriesFor } from '../../../tools/suggest/prometheus-queries.ts';
import { SeriesColumns } from '../../../tools/suggest/series-columns.ts';
import { type Suggestion, suggest } from '../../../tools/suggest/suggestion.ts';
import { type SuggestedSource, suggestionText } from '../../../tools/suggest/suggestion-text.ts';
import { type CommandIo, DONE, type ExitCode, FAILED } from '../../../tools/terminal/command-io.ts';
import { openLines, requireAbsent, requireWritable } from '../../../tools/terminal/output-file.ts';
import { Progress } from '../../../tools/terminal/progress.ts';
import { command, exitCodeOf, printProblems } from '../command.ts';

/** Observations that are considered: 16 bytes each. */
const OBSERVATIONS_MAX = 20_000_000;
const SHOWN_EVERY = 10_000;
const WEEK_MS = 7 * 86_400_000;
const STEP_MS = 300_000;
const RATE_WINDOW_MS_MIN = 300_000;

const { group: _, ...fileFlags } = csvFlags;
const own = {
  ...fileFlags,
  prometheus: commandFlag('prometheus', httpUrl, 'instead of FILE: URL of a Prometheus to query for --match'),
  match: commandFlag('match', seriesText, 'series to query, as matchers in braces: {job="node"}'),
  step: commandFlag('step', durationMs, 'step of the queries (default: 5min)'),
  weeks: commandFlag('weeks', integerFrom(1, 52), 'weeks of history to query', 4),
  timezone: commandFlag('timezone', timeZone, 'time zone of series with a season (default: that of this machine)'),
  holidays: commandFlag(
    'holidays',
    commaList('places whose holidays are known, such as DE or DE-BY', isPlace),
    'places whose holidays the series follow; lists the days on which the data contradicts them',
  ),
  out: commandFlag('out', text, 'file for the detectors (default: standard output)'),
  replace: switchFlag('replace', 'overwrites the file of --out'),
};

type OwnValues = OptionValues<typeof own>;

interface Asked {
  readonly values: OwnValues;
  readonly config: LoadedConfig;
  readonly progress: Progress;
}

/** Looks at data and writes a detectors file for it. */
export const suggestCommand = command({
  operands: ['[FILE]'],
  own,
  settings: { ...prometheusOptions, logLevel: processOptions.logLevel },
  async run({ operands: [path], values, config }, io) {
    const problems = contradictions(path, values);
    if (problems.length > 0) return printProblems(problems, io);
    await requireWritable(values.out);
    if (values.out !== undefined && !values.replace) await requireAbsent(values.out, '--replace');
    try {
      return await write(path, { values, config }, io);
    } catch (error) {
      if (!io.stop.aborted) throw error;
      io.err('Stopped before the end.');
      return DONE;
    }
  },
});

async function write(
  path: string | undefined,
  { values, config }: Omit<Asked, 'progress'>,
  io: CommandIo,
): Promise<ExitCode> {
  const progress = new Progress(io);
  const { columns, sources, exitCode, named } = await readData(path, { values, config, progress }, io);
  if (columns.observations === 0) {
    io.err('The input has no observations.');
    return exitCode || FAILED;
  }
  const repeated = columns.repeated();
  if (repeated !== null) io.err(repeatedText(repeated, columns.observations));
  const suggestion = suggest(columns, (share) => progress.show('comparing series', share));
  progress.end();
  const { timezone = Intl.DateTimeFormat().resolvedOptions().timeZone } = values;
  const holidays = heldAgainst(columns, suggestion, values.holidays ?? [], timezone);
  const context = { command: `suggest ${named}`, sources, timeZone: timezone, holidays };
  const written = suggestionText(suggestion, context);
  if (suggestion.detectors.length === 0) {
    io.err(`There is nothing to watch in ${suggestion.series} series:`);
    for (const line of written.split('\n').filter((line) => line.startsWith('# - '))) io.err(line.slice(2));
    return FAILED;
  }
  const output = await openLines(values.out, io.out);
  await output.write([written.trimEnd()]);
  await output.close();
  return exitCode;
}

function repeatedText(
  { rows, conflicting, series, timestampMs }: NonNullable<ReturnType<SeriesColumns['repeated']>>,
  observations: number,
): string {
  const place = `${JSON.stringify(series)} at ${new Date(timestampMs).toISOString()}`;
  const found = `${rows} of ${observations} rows repeat a time of their series, ${conflicting} with another value`;
  return `${found} (first: ${place}). The first row counts: name the column that distinguishes them (--series-column)`;
}

/** Days of the data that contradict the holidays of the places. */
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
  /** DONE if all of it could be used. */
  readonly exitCode: ExitCode;
  readonly named: string;
}

async function readData(
  path: string | undefined,
  { values, config, progress }: Asked,
  io: CommandIo,
): Promise<ReadData> {
  const columns = new SeriesColumns(OBSERVATIONS_MAX);
  const { prometheus: url, match: query = '', step: stepMs = STEP_MS, weeks } = values;
  if (url !== undefined) {
    const { prometheusHeaders: headers } = config;
    const onShare = (share: number) => progress.show('reading', share);
    await addPrometheus(
      columns,
      { url, headers, query, stepMs, historyMs: weeks * WEEK_MS },
      { stop: io.stop, onShare },
    );
    const seconds = (ms: number) => `${ms / 1_000}s`;
    const window = seconds(Math.max(RATE_WINDOW_MS_MIN, stepMs));
    const queries = queriesFor(columns, { url, match: query, step: seconds(stepMs), window });
    if (queries.left.length > 0) {
      io.err(`No source asks for these counters and buckets of histograms: ${queries.left.join(', ')}`);
    }
    const named = `--prometheus ${url} --match ${query} --step ${stepAlias(stepMs)}`;
    return { columns: queries.columns, sources: queries.sources, exitCode: DONE, named };
  }
  const exitCode = await addFile(columns, { path: path!, reading: csvReading(path!, values), progress }, io);
  return { columns, sources: [], exitCode, named: path! };
}

async function addFile(
  columns: SeriesColumns,
  { path, reading, progress }: { readonly path: string; readonly reading: CsvReading; readonly progress: Progress },
  io: CommandIo,
): Promise<ExitCode> {
  const { bytes, share } = await openInput(path, io.stop);
  try {
    const pull = pullObservations(readObservations(bytes, reading), io.err);
    for await (const { series, timestampMs, value } of pull.observations) {
      if (!columns.add(series, timestampMs, value)) throw tooMany(columns);
      if (columns.observations % SHOWN_EVERY === 0) progress.show('reading', share());
    }
    for (const line of [...pull.refusals.lines(), ...pull.problems]) io.err(line);
    return exitCodeOf(pull);
  } finally {
    bytes.destroy();
  }
}

interface PrometheusOfSuggestion {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
  readonly stepMs: number;
  readonly historyMs: number;
}

/** Failures in a row after which the command fails. */
const ATTEMPTS_MAX = 3;
const RETRY_MS = 1_000;

/** Reads the values of a query over weeks, in requests as `poll` makes them. Throws a ServiceError. */
async function addPrometheus(
  columns: SeriesColumns,
  { url, headers, query, stepMs, historyMs }: PrometheusOfSuggestion,
  { stop, onShare }: { readonly stop: AbortSignal; onShare(share: number): void },
): Promise<void> {
  const ask = prometheusRanges({ url, headers });
  const nowMs = Date.now();
  const source = { name: 'suggest', url, headers: {}, query, stepMs, delayMs: 0, historyMs };
  let state: SourceState = sourceState(source, null, nowMs);
  for (let attempts = 1; ; ) {
    const plan = nextPoll([state], nowMs);
    if (plan.kind === 'wait') return;
    const [{ fromMs, toMs }] = plan.asked;
    const answer = await ask({ name: source.name, query, stepMs, fromMs, toMs }, stop);
    if (answer.kind === 'answered') {
      for (const { id, timestampsMs, values } of answer.points.series) {
        for (let i = 0; i < values.length; i++) {
          if (!columns.add(id, timestampsMs[i], values[i])) throw tooMany(columns);
        }
      }
      state = polled(state, toMs);
      onShare(1 - (nowMs - toMs) / historyMs);
      attempts = 1;
    } else if (answer.kind === 'too-large' && fromMs < toMs) {
      state = tooLarge(state, (toMs - fromMs) / stepMs + 1, { detail: answer.detail, nowMs });
    } else if (answer.kind === 'failed' && attempts++ < ATTEMPTS_MAX)
      await sleep(RETRY_MS, undefined, { signal: stop });
    else throw new ServiceError('configuration', `${url} does not answer the query: ${answer.detail}`);
  }
}

function tooMany({ observations }: SeriesColumns): ServiceError {
  return new ServiceError('configuration', `At most ${observations} observations are read: give fewer`);
}
