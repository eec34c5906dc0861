import { normalQuantile } from '../normal-distribution.ts';
import { randomNumbers } from '../simulation/random-numbers.ts';
import { commonCategories, type ExplainedSeries } from './explained-series.ts';

/** The most bins of equal frequency. */
const BINS_MAX = 8;
/** Rows for each cell of next value, last value and variable; with fewer rows there are fewer bins. */
const ROWS_PER_CELL = 2;
/** Categories beyond the most frequent ones share a bin. */
const CATEGORIES_MAX = 30;
/** Fewer rows are too few for three binned values. */
const ROWS_MIN = 32;
/** Rows of all variables that suffice; of more, the newest of each series. */
const ROWS_MAX = 500_000;
/** Rows of similar last values, among which a variable is shuffled. */
const STRATUM_ROWS = 16;
const SHUFFLES = 40;
/** Information that shuffles exceed more often is noise. */
const NOISE_SHARE = 0.05;
/** Less information is rounding. */
const INFORMATION_MIN = 1e-12;

/**
 * Transfer entropy from a variable to the series: the information that its last value has about the next value beyond
 * the last value of the series, in nats (Schreiber 2000, one lag each). Values are binned by series, the rows of all
 * series are pooled, and the information is the mean over 2 up to as many bins as the rows suffice for. Its bias is
 * that of the variable shuffled among rows of similar last values (Runge 2018); 0 if shuffles could exceed it.
 * @param variable its index in each history
 */
export async function transferEntropy(
  histories: readonly ExplainedSeries[],
  variable: number,
  pause: () => Promise<unknown>,
): Promise<number> {
  const categories = commonCategories(histories, variable, CATEGORIES_MAX);
  const parts = histories.map((history) => rowsOf(history, variable, histories.length));
  const rows = parts.reduce((sum, { times }) => sum + times.length, 0);
  if (rows < ROWS_MIN) return 0;
  const bins = Math.max(3, Math.min(BINS_MAX, Math.floor(Math.cbrt(rows / ROWS_PER_CELL))));
  const tables: CodeTable[] = [];
  for (let count = 2; count <= bins; count++) {
    await pause();
    tables.push(tableOf(parts, { variable, categories, bins: count, rows }));
  }
  const sources = Int32Array.from({ length: rows }, (_, row) => row);
  const informationOf = () =>
    tables.reduce((sum, own) => sum + conditionalInformation(own, sources), 0) / tables.length;
  const found = informationOf();
  const shuffled: number[] = [];
  for (let i = 0; i < SHUFFLES; i++) {
    await pause();
    shuffle(sources, parts);
    shuffled.push(informationOf());
  }
  const mean = shuffled.reduce((sum, own) => sum + own, 0) / SHUFFLES;
  const deviation = Math.sqrt(shuffled.reduce((sum, own) => sum + (own - mean) ** 2, 0) / SHUFFLES);
  const excess = found - mean;
  return excess > Math.max(INFORMATION_MIN, deviation * normalQuantile(1 - NOISE_SHARE)) ? excess : 0;
}

interface PairedRows {
  readonly history: ExplainedSeries;
  /** Present values of the series and of the variable, ascending. */
  readonly sorted: readonly [own: Float64Array, given: Float64Array];
  /** Times of the next values, by last value of the series; equal ones in random order. */
  readonly times: readonly number[];
  /** Random numbers of the series, so that its place among others does not matter. */
  readonly next: () => number;
}

/** The newest rows without a missing value. @param count of series */
function rowsOf(history: ExplainedSeries, variable: number, count: number): PairedRows {
  const { values, variables } = history;
  const given = variables[variable].values;
  const most = Math.max(STRATUM_ROWS, ROWS_MAX / variables.length / count);
  const times: number[] = [];
  let sum = 0;
  for (let t = values.length - 1; t > 0 && times.length < most; t--) {
    if (Number.isNaN(values[t] + values[t - 1] + given[t - 1])) continue;
    times.push(t);
    sum += values[t];
  }
  const next = randomNumbers(new Uint8Array(Float64Array.of(sum, times.length).buffer));
  permute(times, [0, times.length], next);
  const sorted = [ascending(values), ascending(given)] as const;
  return { history, sorted, times: times.sort((a, b) => values[a - 1] - values[b - 1]), next };
}

/** Codes of each row: next and last value together, and the variable. */
interface CodeTable {
  readonly own: Uint8Array;
  readonly given: Uint8Array;
  readonly counts: Float64Array;
}

interface TableSettings {
  readonly variable: number;
  readonly categories: readonly number[] | null;
  readonly bins: number;
  readonly rows: number;
}

function tableOf(parts: readonly PairedRows[], { variable, categories, bins, rows }: TableSettings): CodeTable {
  const width = categories === null ? BINS_MAX : categories.length + 1;
  const counts = new Float64Array(BINS_MAX ** 2 * width);
  const table = { own: new Uint8Array(rows), given: new Uint8Array(rows), counts };
  let row = 0;
  for (const { history, sorted, times } of parts) {
    const { values: column } = history.variables[variable];
    const binOf = binning(sorted[0], bins);
    const givenOf = categories === null ? binning(sorted[1], bins) : (value: number) => codeOf(value, categories);
    for (const t of times) {
      table.own[row] = binOf(history.values[t]) * BINS_MAX + binOf(history.values[t - 1]);
      table.given[row++] = givenOf(column[t - 1]);
    }
  }
  return table;
}

/** Gives each row the variable of another row of its series with a similar last value. */
function shuffle(sources: Int32Array, parts: readonly PairedRows[]): void {
  let start = 0;
  for (const { times, next } of parts) {
    const count = Math.max(1, Math.floor(times.length / STRATUM_ROWS));
    for (let k = 0; k < count; k++) {
      const [from, to] = [k, k + 1].map((edge) => start + Math.floor((edge * times.length) / count));
      permute(sources, [from, to], next);
    }
    start += times.length;
  }
}

function permute(rows: Int32Array | number[], [from, to]: readonly [number, number], next: () => number): void {
  for (let i = to - 1; i > from; i--) {
    const other = from + Math.floor(next() * (i - from + 1));
    [rows[i], rows[other]] = [rows[other], rows[i]];
  }
}

function codeOf(value: number, categories: readonly number[]): number {
  const code = categories.indexOf(value);
  return code < 0 ? categories.length : code;
}

function ascending(values: ArrayLike<number>): Float64Array {
  return Float64Array.from(values)
    .filter((value) => !Number.isNaN(value))
    .sort();
}

/** Finds the bin of a value between the quantiles of all. Few distinct values have a bin each. */
function binning(sorted: Float64Array, bins: number): (value: number) => number {
  const distinct = distinctOf(sorted);
  const edges = distinct.length <= BINS_MAX ? distinct.slice(1) : quantilesOf(sorted, bins);
  return (value) => edges.reduce((bin, edge) => bin + Number(edge <= value), 0);
}

/** The distinct values, up to one more than the bins. */
function distinctOf(sorted: Float64Array): number[] {
  const distinct: number[] = [];
  for (const value of sorted) {
    if (value !== distinct.at(-1)) distinct.push(value);
    if (distinct.length > BINS_MAX) break;
  }
  return distinct;
}

function quantilesOf(sorted: Float64Array, bins: number): number[] {
  return Array.from({ length: bins - 1 }, (_, i) => {
    const at = ((i + 1) / bins) * (sorted.length - 1);
    const below = Math.floor(at);
    const above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
  });
}

/** I(next; variable | last), the variable of each row taken from its source. */
function conditionalInformation({ own, given, counts }: CodeTable, sources: Int32Array): number {
  const width = counts.length / BINS_MAX ** 2;
  counts.fill(0);
  for (let row = 0; row < own.length; row++) counts[own[row] * width + given[sources[row]]]++;
  const joint = entropyOf(counts, own.length, (i) => i);
  const ofNextAndLast = entropyOf(counts, own.length, (i) => Math.floor(i / width));
  const ofLastAndVariable = entropyOf(counts, own.length, (i) => i % (BINS_MAX * width));
  const ofLast = entropyOf(counts, own.length, (i) => Math.floor(i / width) % BINS_MAX);
  return ofNextAndLast - ofLast - (joint - ofLastAndVariable);
}

/** Entropy of the counts that are summed by `groupOf`. */
function entropyOf(counts: Float64Array, rows: number, groupOf: (i: number) => number): number {
  const sums = new Float64Array(counts.length);
  counts.forEach((count, i) => {
    sums[groupOf(i)] += count;
  });
  return sums.reduce((sum, count) => (count > 0 ? sum - (count / rows) * Math.log(count / rows) : sum), 0);
}
