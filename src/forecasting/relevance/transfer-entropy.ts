import { commonCategories, type ExplainedSeries } from './explained-series.ts';

/** Bins of equal frequency. */
const BINS = 8;
/** Categories beyond the most frequent ones share a bin. */
const CATEGORIES_MAX = 30;
/** Fewer rows are too few for three binned values. */
const ROWS_MIN = 4 * BINS;
/** Less information is rounding. */
const INFORMATION_MIN = 1e-12;

/**
 * Transfer entropy from a variable to the series: the information that its last value has about the next value beyond
 * the last value of the series, in nats (Schreiber 2000, one lag each). Values are binned by series, and the rows of
 * all series are pooled. The estimate is of the observed frequencies: in short series it favours variables of many
 * values.
 * @param variable its index in each history
 */
export function transferEntropy(histories: readonly ExplainedSeries[], variable: number): number {
  const categories = commonCategories(histories, variable, CATEGORIES_MAX);
  const bins = categories === null ? BINS : categories.length + 1;
  const counts = new Float64Array(BINS * BINS * bins);
  let rows = 0;
  for (const { values, variables } of histories) {
    const { values: given } = variables[variable];
    const series = binned(values);
    const codes = categories === null ? binned(given) : Int32Array.from(given, (value) => codeOf(value, categories));
    for (let t = 1; t < series.length; t++) {
      if (series[t] < 0 || series[t - 1] < 0 || codes[t - 1] < 0) continue;
      counts[(series[t] * BINS + series[t - 1]) * bins + codes[t - 1]]++;
      rows++;
    }
  }
  if (rows < ROWS_MIN) return 0;
  const information = conditionalInformation(counts, bins, rows);
  return information > INFORMATION_MIN ? information : 0;
}

/** -1 where it is missing. */
function codeOf(value: number, categories: readonly number[]): number {
  if (Number.isNaN(value)) return -1;
  const code = categories.indexOf(value);
  return code < 0 ? categories.length : code;
}

/** The bin of each value between the quantiles of all; -1 where it is missing. Few distinct values have a bin each. */
function binned(values: ArrayLike<number>): Int32Array {
  const sorted = Float64Array.from(values)
    .filter((value) => !Number.isNaN(value))
    .sort();
  const distinct = distinctOf(sorted);
  const edges = distinct.length <= BINS ? distinct.slice(1) : quantilesOf(sorted);
  return Int32Array.from(values, (value) => {
    return Number.isNaN(value) ? -1 : edges.reduce((bin, edge) => bin + Number(edge <= value), 0);
  });
}

/** The distinct values, up to one more than the bins. */
function distinctOf(sorted: Float64Array): number[] {
  const distinct: number[] = [];
  for (const value of sorted) {
    if (value !== distinct.at(-1)) distinct.push(value);
    if (distinct.length > BINS) break;
  }
  return distinct;
}

function quantilesOf(sorted: Float64Array): number[] {
  return Array.from({ length: BINS - 1 }, (_, i) => {
    const at = ((i + 1) / BINS) * (sorted.length - 1);
    const below = Math.floor(at);
    const above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
  });
}

/** I(next; variable | last) from the counts of their values, in that order of axes: next, last, variable. */
function conditionalInformation(counts: Float64Array, bins: number, rows: number): number {
  const joint = entropyOf(counts, rows, (i) => i);
  const ofNextAndLast = entropyOf(counts, rows, (i) => Math.floor(i / bins));
  const ofLastAndVariable = entropyOf(counts, rows, (i) => i % (BINS * bins));
  const ofLast = entropyOf(counts, rows, (i) => Math.floor(i / bins) % BINS);
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
