/** Runs of missing values of this length or shorter are bridged by a line where no season fills them. */
const BRIDGED_MAX = 8;
/** Pairs of values from which the difference at a lag is known; and their share of the observed values. */
const PAIRS_MIN = 8;
const PAIRS_SHARE_MIN = 1 / 3;
/** Observed rows on each side of a run that give the level of the run relative to another cycle. */
const LEVEL_ROWS = 8;
const LEVEL_PAIRS_MIN = 3;
/** A longer lag must leave less variance than a shorter one by this share: of equal cycles the shorter one wins. */
const LONGER_LAG_SHARE = 0.97;
/** A season fills a run if it leaves this share of the variance that a line, or the last value, leaves. */
const SEASON_SHARE = 0.85;

/**
 * Fills missing values of one context, in place, by a rule of that context alone. Networks copy the last cycle; where
 * its value is missing they fall back to the last value, and the forecast loses the phase.
 *
 *   season   the lag from the length of the run to half of the context whose differences vary least
 *   filled   the mean of the nearest observed cycles before and after, each moved by the median difference of the rows
 *            around the run, if that leaves less variance than a line does
 *   bridged  otherwise by a line across up to 8 rows
 *
 * What precedes the first observation stays missing, and so does a long run, or one at the end, without a season.
 * O(context^2) for a context with missing values, O(context) for others.
 */
export function fillGaps(context: Float32Array): void {
  const first = context.findIndex((value) => !Number.isNaN(value));
  if (first < 0 || !context.includes(Number.NaN, first)) return;
  const observed = context.slice(first);
  const variances = lagVariances(observed);
  for (let start = 0; start < observed.length; start++) {
    if (!Number.isNaN(observed[start])) continue;
    let end = start;
    while (end < observed.length && Number.isNaN(observed[end])) end++;
    fillRun(context.subarray(first), { observed, variances, start, end });
    start = end;
  }
}

interface MissingRun {
  /** The context as it came, from its first observation on. */
  readonly observed: Float32Array;
  /** Variance of differences by lag; infinite with too few pairs. */
  readonly variances: Float64Array;
  readonly start: number;
  readonly end: number;
}

function lagVariances(observed: Float32Array): Float64Array {
  let count = 0;
  for (let i = 0; i < observed.length; i++) if (!Number.isNaN(observed[i])) count++;
  const pairsMin = Math.max(PAIRS_MIN, PAIRS_SHARE_MIN * count);
  const variances = new Float64Array((observed.length >> 1) + 1).fill(Number.POSITIVE_INFINITY);
  for (let lag = 1; lag < variances.length; lag++) {
    let [sum, squares, pairs] = [0, 0, 0];
    for (let i = lag; i < observed.length; i++) {
      const difference = observed[i] - observed[i - lag];
      if (Number.isNaN(difference)) continue;
      sum += difference;
      squares += difference * difference;
      pairs++;
    }
    if (pairs >= pairsMin) variances[lag] = Math.max(0, squares / pairs - (sum / pairs) ** 2);
  }
  return variances;
}

function fillRun(target: Float32Array, run: MissingRun): void {
  const { observed, start, end } = run;
  const lag = seasonOf(run);
  const isSeasonal = lag > 0 && run.variances[lag] < SEASON_SHARE * plainVariance(run);
  let isFilled = isSeasonal;
  for (let i = start; i < end && isSeasonal; i++) {
    const before = valueOfCycle(run, i, -lag);
    const after = valueOfCycle(run, i, lag);
    target[i] = Number.isNaN(before) ? after : Number.isNaN(after) ? before : (before + after) / 2;
    if (Number.isNaN(target[i])) isFilled = false;
  }
  if (isFilled || end === observed.length || end - start > BRIDGED_MAX) return;
  const slope = (observed[end] - observed[start - 1]) / (end - start + 1);
  for (let i = start; i < end; i++) {
    if (!isSeasonal || Number.isNaN(target[i])) target[i] = observed[start - 1] + slope * (i - start + 1);
  }
}

/** The lag whose differences vary least, and at which a run does not compare with itself; 0 where none is known. */
function seasonOf({ variances, start, end }: MissingRun): number {
  let season = 0;
  for (let lag = end - start; lag < variances.length; lag++) {
    if (variances[lag] < LONGER_LAG_SHARE * variances[season]) season = lag;
  }
  return season;
}

/** Variance that is left where a run is filled by a line, or at the end by the last value. */
function plainVariance({ observed, variances, start, end }: MissingRun): number {
  const length = end - start;
  let [sum, count] = [0, 0];
  const add = (square: number) => {
    if (!Number.isFinite(square)) return;
    sum += square;
    count++;
  };
  if (end === observed.length) {
    for (let lag = 1; lag <= length && lag < variances.length; lag++) add(variances[lag]);
  } else {
    const reach = (length + 1) >> 1;
    for (let i = reach; i + reach < observed.length; i++) {
      add((observed[i] - (observed[i - reach] + observed[i + reach]) / 2) ** 2);
    }
  }
  return count === 0 ? Number.POSITIVE_INFINITY : sum / count;
}

/** The nearest observed cycle on one side, at the level of the rows around the run; NaN without one. */
function valueOfCycle({ observed, start, end }: MissingRun, position: number, lag: number): number {
  let other = position + lag;
  while (Number.isNaN(observed[other])) other += lag;
  if (!(other >= 0 && other < observed.length)) return Number.NaN;
  const offset = other - position;
  const near = differencesAt(observed, offset, { start: start - LEVEL_ROWS, end: end + LEVEL_ROWS });
  if (near.length >= LEVEL_PAIRS_MIN) return observed[other] + medianOf(near);
  const all = differencesAt(observed, offset, { start: 0, end: observed.length });
  return all.length < LEVEL_PAIRS_MIN ? Number.NaN : observed[other] + medianOf(all);
}

/** Differences of the rows in a range from those `offset` rows away, where both were observed. */
function differencesAt(observed: Float32Array, offset: number, { start, end }: Pick<MissingRun, 'start' | 'end'>) {
  const differences: number[] = [];
  for (let i = Math.max(0, start); i < end && i < observed.length; i++) {
    const difference = observed[i] - observed[i + offset];
    if (!Number.isNaN(difference)) differences.push(difference);
  }
  return differences;
}

function medianOf(numbers: number[]): number {
  numbers.sort((a, b) => a - b);
  const middle = numbers.length >> 1;
  return (numbers[middle] + numbers[numbers.length - 1 - middle]) / 2;
}
