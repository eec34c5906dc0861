import type { ShownScores, TimeRange } from './shown-scores.ts';

interface Sparkline {
  readonly line: string;
  /** SVG path data of the interval; empty if there is none. */
  readonly band: string;
  readonly alarms: readonly { readonly x: number; readonly y: number }[];
}

interface SparklineBox {
  readonly width: number;
  readonly height: number;
  /** Time that the width shows; left out: from the first to the last value. */
  readonly range?: TimeRange;
}

const MARGIN = 2;

export function spanOf({ timestampMs: at }: ShownScores): TimeRange {
  return { from: at[0] ?? 0, to: at.at(-1) ?? 0 };
}

/** Draws the newest values into a box. Times that are missing leave a gap. */
export function sparklineOf(columns: ShownScores, { width, height, range = spanOf(columns) }: SparklineBox): Sparkline {
  const { timestampMs: at, value, value_min: min, value_max: max, lo, hi, alarms: raised, bucket_ms } = columns;
  // Means of buckets would hide short events.
  const drawn = value.map((mean, i) => (bucket_ms === null ? [mean] : [min[i] ?? mean, max[i] ?? mean]));
  const known = [...drawn.flat(), ...lo, ...hi].filter((number): number is number => number !== null);
  if (at.length < 2 || known.length === 0) return { line: '', band: '', alarms: [] };
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const { from: first, to: last } = range;
  const x = (i: number) => round(((at[i] - first) / (last - first)) * (width - 2 * MARGIN) + MARGIN);
  const y = (number: number) => {
    const share = high > low ? (number - low) / (high - low) : 0.5;
    return round((1 - share) * (height - 2 * MARGIN) + MARGIN);
  };
  let line = '';
  let pen = 'M';
  for (const [i, numbers] of drawn.entries()) {
    for (const number of new Set(numbers)) {
      if (number === null) pen = 'M';
      else {
        line += `${pen}${x(i)} ${y(number)}`;
        pen = 'L';
      }
    }
  }
  const band = banded(columns)
    .map((run) => {
      const upper = run.map((i) => `${x(i)} ${y(hi[i] as number)}`);
      const lower = run.map((i) => `${x(i)} ${y(lo[i] as number)}`).reverse();
      return `M${[...upper, ...lower].join('L')}Z`;
    })
    .join('');
  const alarms = raised.flatMap((count, i) => {
    const number = value[i];
    return count > 0 && number !== null ? [{ x: x(i), y: y(number) }] : [];
  });
  return { line, band, alarms };
}

/** Runs of two and more points in a row that have an interval. */
function banded({ lo, hi }: ShownScores): readonly (readonly number[])[] {
  const runs: number[][] = [[]];
  for (const [i, low] of lo.entries()) {
    if (low !== null && hi[i] !== null) runs.at(-1)?.push(i);
    else runs.push([]);
  }
  return runs.filter(({ length }) => length > 1);
}

const round = (pixels: number) => Math.round(pixels * 10) / 10;
