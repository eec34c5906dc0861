import { NO_SCORES, type ShownScores, withColumns } from './shown-scores.ts';

/** The scores of a stretch of time: each, or where they are too many the mean, extremes and worst grade of several. */
export function bucketed(
  scores: ShownScores,
  { from, to, points }: { readonly from: number | undefined; readonly to: number | undefined; readonly points: number },
): ShownScores {
  const { timestampMs } = scores;
  const first = from === undefined ? 0 : firstAtLeast(timestampMs, from);
  const end = to === undefined ? timestampMs.length : firstAtLeast(timestampMs, to);
  const width = Math.ceil(Math.max(0, end - first) / points);
  if (end <= first) return NO_SCORES;
  if (width <= 1) return withColumns(scores, (column) => column.slice(first, end));
  const starts = Array.from({ length: Math.ceil((end - first) / width) }, (_, i) => first + i * width);
  const each = (column: readonly (number | null)[], of: (known: readonly number[]) => number): (number | null)[] =>
    starts.map((start) => {
      const known = column.slice(start, Math.min(end, start + width)).filter((number) => number !== null);
      return known.length === 0 ? null : of(known);
    });
  return {
    timestampMs: starts.map((start) => timestampMs[start]),
    value: each(scores.value, mean),
    value_min: each(scores.value_min, (known) => Math.min(...known)),
    value_max: each(scores.value_max, (known) => Math.max(...known)),
    forecast: each(scores.forecast, mean),
    lo: each(scores.lo, mean),
    hi: each(scores.hi, mean),
    grade: each(scores.grade, (known) => Math.max(...known)),
    alarms: starts.map((start) => sum(scores.alarms.slice(start, Math.min(end, start + width)))),
    bucket_ms: timestampMs[first + width] - timestampMs[first],
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const mean = (known: readonly number[]) => sum(known) / known.length;

/** The first place whose time is not before `time`; times ascend. */
function firstAtLeast(times: readonly number[], time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
