import { NO_SCORES, type ShownScores } from './seen.ts';

interface BucketRange {
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** Points at most. */
  readonly points: number;
}

type Numbers = readonly (number | null)[];

/** The scores of a stretch of time: each, or where they are too many the mean, extremes and worst grade of several. */
export function bucketed(scores: ShownScores, { from, to, points }: BucketRange): ShownScores {
  const { at } = scores;
  const first = from === undefined ? 0 : firstAtLeast(at, from);
  const end = to === undefined ? at.length : firstAtLeast(at, to);
  const width = Math.ceil(Math.max(0, end - first) / points);
  if (end <= first) return NO_SCORES;
  if (width <= 1) return sliced(scores, first, end);
  const starts = Array.from({ length: Math.ceil((end - first) / width) }, (_, i) => first + i * width);
  const each = (column: Numbers, of: (known: readonly number[]) => number): (number | null)[] =>
    starts.map((start) => {
      const known = column.slice(start, Math.min(end, start + width)).filter((number) => number !== null);
      return known.length === 0 ? null : of(known);
    });
  return {
    at: starts.map((start) => at[start]),
    value: each(scores.value, mean),
    forecast: each(scores.forecast, mean),
    lo: each(scores.lo, mean),
    hi: each(scores.hi, mean),
    grade: each(scores.grade, (known) => Math.max(...known)),
    alarm: starts.map((start) => scores.alarm.slice(start, Math.min(end, start + width)).some(Boolean)),
    min: each(scores.min, (known) => Math.min(...known)),
    max: each(scores.max, (known) => Math.max(...known)),
    downsampled: true,
  };
}

function sliced(scores: ShownScores, first: number, end: number): ShownScores {
  const { at, value, forecast, lo, hi, grade, alarm, min, max, downsampled } = scores;
  const cut = <T>(column: readonly T[]) => column.slice(first, end);
  return {
    ...{ at: cut(at), value: cut(value), forecast: cut(forecast), lo: cut(lo), hi: cut(hi), grade: cut(grade) },
    ...{ alarm: cut(alarm), min: cut(min), max: cut(max), downsampled },
  };
}

const mean = (known: readonly number[]) => known.reduce((sum, number) => sum + number, 0) / known.length;

/** The first place whose time is not before `time`; times ascend. */
function firstAtLeast(at: readonly number[], time: number): number {
  let [low, high] = [0, at.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
