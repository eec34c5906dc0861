import type { SeriesInput } from '../labelled-data.ts';

/** Changes that are remembered. */
const MEMORY = 1_000;
const HOLD = 0.9;

/** The last change over the root of the forgotten mean square of those before; of a group the root mean square. */
export function lastChange({ channels, times }: SeriesInput): Float64Array {
  const squares = new Float64Array(times.length);
  for (const values of channels) {
    let meanSquare = 0;
    let count = 0;
    let last = Number.NaN;
    values.forEach((value, row) => {
      const change = value - last;
      if (Number.isFinite(value)) last = value;
      if (!Number.isFinite(change)) return;
      if (meanSquare > 0) squares[row] += change ** 2 / meanSquare / channels.length;
      count++;
      meanSquare += (change ** 2 - meanSquare) * Math.max(1 / MEMORY, 1 / count);
    });
  }
  return squares.map(Math.sqrt);
}

/** Each score, or as much as is left of the one before it. */
export function held(scores: Float64Array): Float64Array {
  let before = 0;
  return scores.map((score) => {
    before = Math.max(score, HOLD * before);
    return before;
  });
}
