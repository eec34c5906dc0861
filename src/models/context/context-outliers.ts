/** So many values on either side may be outliers; one more shows that they are none. */
const OUTLIERS_MAX = 2;
/** So many in a row, and none elsewhere, are one glitch: its third value confirms only itself. */
const GLITCH_VALUES_MAX = 4;
/** Fewer values have no range of usual values: the middle of five is one value. */
const RANGE_VALUES_MIN = 4 * OUTLIERS_MAX;
/** Values within so many mean deviations of the centre are no outliers. */
const DEVIATIONS_MAX = 32;
/** A last value is held when it leaps this many times as far as the largest earlier steps. */
const LEAP_RATIO = 1.5;
/**
 * One value or step in so many may have been such a leap before, and is omitted of the comparison. Below this number
 * of observed values a leap, or an excursion, is nothing unusual.
 */
const LEAP_VALUES = 64;

/**
 * Holds or drops the outliers of one context, in place, by a rule of that context alone. Values that are not finite
 * stay.
 *
 *   range      from the third-lowest to the third-highest observed value; without a glitch, if that is all beyond it
 *   centre     mean of the values, each moved into the range (Winsorised); deviation: their mean distance from it
 *   outliers   beyond the range and more than 32 deviations from the centre: held to whichever of the two is farther
 *   last       beyond all values, and farther from both values before it than 1.5 times every earlier step, 1 value or
 *              step in 64 (at least two) left out: held to the nearer of the two, so that a forecast does not follow a
 *              single spike
 *   far        farther beyond the range than it is wide: missing, whatever the other rules made of it. A glitch shows
 *              nothing of what follows, and networks would repeat it a season later
 *   spikes     farther from both neighbours, on one side, than twice what all but two values are: missing, too
 *
 * Two odd values a side leave a flat context flat. The fifth value at a new level (of a short context, the third) is in
 * the range, and so believed; the third spike of a sparse series makes all of them count up to its size.
 */
export function holdOutliers(context: Float32Array): void {
  const range = rangeOf(context);
  if (range === null) return;
  const { low, high } = boundsOf(context, range);
  if (range.count >= LEAP_VALUES) {
    holdLast(context, Math.max(OUTLIERS_MAX, Math.floor(range.count / LEAP_VALUES)));
    dropFar(context, range);
    dropSpikes(context);
  }
  if (range.least >= low && range.most <= high) return;
  for (let i = 0; i < context.length; i++) {
    if (!isObserved(context[i])) continue;
    if (context[i] < low) context[i] = low;
    else if (context[i] > high) context[i] = high;
  }
}

interface Range {
  readonly low: number;
  readonly high: number;
  readonly least: number;
  readonly most: number;
  /** Observed values. */
  readonly count: number;
}

function dropFar(context: Float32Array, { low, high, least, most }: Range): void {
  const width = high - low;
  if (most <= high + width && least >= low - width) return;
  for (let i = 0; i < context.length; i++) {
    if (isObserved(context[i]) && (context[i] > high + width || context[i] < low - width)) context[i] = Number.NaN;
  }
}

function dropSpikes(context: Float32Array): void {
  const sizes = noLargest(OUTLIERS_MAX);
  for (let i = 1; i < context.length - 1; i++) keepLargest(sizes, spikeSize(context, i));
  const most = 2 * Math.max(0, sizes[0]);
  for (let size = sizes[OUTLIERS_MAX]; size > most; ) {
    // The neighbours of a spike are smaller ones.
    for (let i = 1; i < context.length - 1; i++) if (spikeSize(context, i) === size) context[i] = Number.NaN;
    size = 0;
    for (let i = 1; i < context.length - 1; i++) size = Math.max(size, spikeSize(context, i) || 0);
  }
}

/** Distance of a value to the nearer of its neighbours, if it is above or below both; NaN next to missing values. */
function spikeSize(context: Float32Array, at: number): number {
  const [before, after] = [context[at] - context[at - 1], context[at] - context[at + 1]];
  return isObserved(context[at]) && before > 0 === after > 0 ? Math.min(Math.abs(before), Math.abs(after)) : 0;
}

function isObserved(value: number): boolean {
  return value - value === 0;
}

/** null if there are too few values for a range. */
function rangeOf(context: Float32Array): Range | null {
  const [highest, lowest] = [noLargest(GLITCH_VALUES_MAX), noLargest(GLITCH_VALUES_MAX)];
  let count = 0;
  for (let i = 0; i < context.length; i++) {
    if (!isObserved(context[i])) continue;
    count++;
    keepLargest(highest, context[i]);
    keepLargest(lowest, -context[i]);
  }
  if (count < RANGE_VALUES_MIN) return null;
  const extremes = { least: -lowest[GLITCH_VALUES_MAX], most: highest[GLITCH_VALUES_MAX], count };
  const without = (values: number) => ({
    ...extremes,
    low: -lowest[GLITCH_VALUES_MAX - values],
    high: highest[GLITCH_VALUES_MAX - values],
  });
  const usual = without(GLITCH_VALUES_MAX);
  return count >= LEAP_VALUES && isGlitch(context, usual) ? usual : without(OUTLIERS_MAX);
}

/** True if the values farther beyond the range than it is wide are one short run. */
function isGlitch(context: Float32Array, { low, high, least, most }: Range): boolean {
  const width = high - low;
  if (most <= high + width && least >= low - width) return false;
  const isFar = (value: number) => isObserved(value) && (value > high + width || value < low - width);
  return context.findLastIndex(isFar) - context.findIndex(isFar) < GLITCH_VALUES_MAX;
}

function boundsOf(context: Float32Array, { low, high, count }: Range): Pick<Range, 'low' | 'high'> {
  let sum = 0;
  for (let i = 0; i < context.length; i++) if (isObserved(context[i])) sum += clamp(context[i], low, high);
  const centre = sum / count;
  let distances = 0;
  for (let i = 0; i < context.length; i++) {
    if (isObserved(context[i])) distances += Math.abs(clamp(context[i], low, high) - centre);
  }
  const wide = DEVIATIONS_MAX * (distances / count);
  return { low: Math.min(low, centre - wide), high: Math.max(high, centre + wide) };
}

/** @param leaps as many values on either side, and as many steps, may have been outliers before */
function holdLast(context: Float32Array, leaps: number): void {
  let at = context.length - 1;
  while (!isObserved(context[at])) at--;
  if (!isBeyond(context, at, leaps)) return;
  const steps = noLargest(leaps);
  let [before, previous] = [Number.NaN, Number.NaN];
  for (let i = 0; i < at; i++) {
    if (!isObserved(context[i])) continue;
    [before, previous] = [previous, context[i]];
    keepLargest(steps, Math.abs(previous - before));
  }
  const last = context[at];
  const nearer = Math.abs(last - previous) <= Math.abs(last - before) ? previous : before;
  if (Math.abs(last - nearer) > LEAP_RATIO * steps[0]) context[at] = nearer;
}

/** True if fewer than `leaps` values before a position are as high, or fewer are as low. */
function isBeyond(context: Float32Array, at: number, leaps: number): boolean {
  let [above, below] = [0, 0];
  for (let i = 0; i < at; i++) {
    if (context[i] >= context[at]) above++;
    if (context[i] <= context[at]) below++;
    if (above >= leaps && below >= leaps) return false;
  }
  return true;
}

/** Room for the largest numbers, one more than are omitted, ascending. */
function noLargest(leftOut: number): Float64Array {
  return new Float64Array(leftOut + 1).fill(Number.NEGATIVE_INFINITY);
}

function keepLargest(largest: Float64Array, number: number): void {
  if (!(number > largest[0])) return;
  let i = 1;
  for (; i < largest.length && largest[i] < number; i++) largest[i - 1] = largest[i];
  largest[i - 1] = number;
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
