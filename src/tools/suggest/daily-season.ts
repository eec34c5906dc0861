import type { SeriesColumn } from './series-columns.ts';

export interface Season {
  /** Autocorrelation at a day, less that at half a day: a slow change has both. */
  readonly day: number;
  readonly week: number;
  /** Hour of the day (UTC) with the lowest mean. */
  readonly quietestHour: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS_MIN = 3;
const WEEKS_MIN = 3;
/** Newest positions that are considered. */
const POSITIONS_MAX = 20_000;
/** A season that may be spoken of. */
export const SEASON_MIN = 0.4;

/** Daily and weekly season; null if the series is too short, or its step too long, to have one. */
export function seasonOf({ times, values }: SeriesColumn, stepMs: number): Season | null {
  const lastMs = times[times.length - 1];
  const span = Math.min(POSITIONS_MAX, Math.round((lastMs - times[0]) / stepMs) + 1);
  const day = Math.round(DAY_MS / stepMs);
  if (day < 4 || span < DAYS_MIN * day) return null;
  const grid = new Float64Array(span).fill(Number.NaN);
  for (let i = times.length - 1; i >= 0; i--) {
    const at = span - 1 - Math.round((lastMs - times[i]) / stepMs);
    if (at < 0) break;
    grid[at] = values[i];
  }
  const week = 7 * day;
  return {
    day: correlation(grid, day) - Math.max(0, correlation(grid, day >> 1)),
    week: span >= WEEKS_MIN * week ? correlation(grid, week) : 0,
    quietestHour: quietestHour(times, values),
  };
}

/** Autocorrelation at a lag; 0 if too few values have a later one. */
function correlation(grid: Float64Array, lag: number): number {
  let [n, sumA, sumB, sumAA, sumBB, sumAB] = [0, 0, 0, 0, 0, 0];
  for (let i = lag; i < grid.length; i++) {
    const [a, b] = [grid[i - lag], grid[i]];
    if (Number.isNaN(a) || Number.isNaN(b)) continue;
    n++;
    sumA += a;
    sumB += b;
    sumAA += a * a;
    sumBB += b * b;
    sumAB += a * b;
  }
  const spread = Math.sqrt((n * sumAA - sumA * sumA) * (n * sumBB - sumB * sumB));
  return n < lag || !(spread > 0) ? 0 : (n * sumAB - sumA * sumB) / spread;
}

function quietestHour(times: Float64Array, values: Float64Array): number {
  const [sums, counts] = [new Float64Array(24), new Float64Array(24)];
  for (let i = 0; i < times.length; i++) {
    const hour = Math.floor((((times[i] % DAY_MS) + DAY_MS) % DAY_MS) / HOUR_MS);
    sums[hour] += values[i];
    counts[hour]++;
  }
  let quietest = 0;
  const mean = (hour: number) => (counts[hour] === 0 ? Number.POSITIVE_INFINITY : sums[hour] / counts[hour]);
  for (let hour = 1; hour < 24; hour++) if (mean(hour) < mean(quietest)) quietest = hour;
  return quietest;
}
