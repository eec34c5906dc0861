import type { ShownScores } from './shown-scores.ts';

export interface Sparkline {
  /** SVG path data of the observed values. */
  readonly line: string;
  /** SVG path data of the interval; empty where there is none. */
  readonly band: string;
  /** Centres of the alarms. */
  readonly alarms: readonly { readonly x: number; readonly y: number }[];
}

const MARGIN = 2;

/** Draws the newest values into a box. Times that are missing leave a gap. */
export function sparklineOf(columns: ShownScores, width: number, height: number): Sparkline {
  const { timestamp: at, value, lo, hi, alarms: raised } = columns;
  const known = [...value, ...lo, ...hi].filter((number): number is number => number !== null);
  if (at.length < 2 || known.length === 0) return { line: '', band: '', alarms: [] };
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const [first, last] = [at[0], at[at.length - 1]];
  const x = (i: number) => round(((at[i] - first) / (last - first)) * (width - 2 * MARGIN) + MARGIN);
  const y = (number: number) => {
    const share = high > low ? (number - low) / (high - low) : 0.5;
    return round((1 - share) * (height - 2 * MARGIN) + MARGIN);
  };
  let line = '';
  let pen = 'M';
  for (const [i, number] of value.entries()) {
    if (number === null) pen = 'M';
    else {
      line += `${pen}${x(i)} ${y(number)}`;
      pen = 'L';
    }
  }
  const banded = at.map((_, i) => i).filter((i) => lo[i] !== null && hi[i] !== null);
  const upper = banded.map((i) => `${x(i)} ${y(hi[i] as number)}`);
  const lower = banded.map((i) => `${x(i)} ${y(lo[i] as number)}`).reverse();
  const band = banded.length < 2 ? '' : `M${[...upper, ...lower].join('L')}Z`;
  const alarms = raised.flatMap((count, i) => {
    const number = value[i];
    return count > 0 && number !== null ? [{ x: x(i), y: y(number) }] : [];
  });
  return { line, band, alarms };
}

const round = (pixels: number) => Math.round(pixels * 10) / 10;
