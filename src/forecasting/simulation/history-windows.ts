/** Seasons of a history whose mean season is removed. */
const SEASONS_MIN = 2;

/**
 * A history without its linear trend and its mean season, so that windows of any phase and time can be compared. Scaled
 * by the greatest value, which leaves the order: no sum overflows. NaN if missing.
 * @param season its length in values
 */
export function withoutTrendAndSeason(values: Float64Array, season: number): Float64Array {
  const scale = values.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0) || 1;
  const left = withoutTrend(values.map((value) => value / scale));
  if (season < 2 || values.length < SEASONS_MIN * season) return left;
  const [sums, counts] = [new Float64Array(season), new Uint32Array(season)];
  left.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    sums[i % season] += value;
    counts[i % season]++;
  });
  return left.map((value, i) => value - sums[i % season] / counts[i % season]);
}

function withoutTrend(values: Float64Array): Float64Array {
  let [count, positions, sum] = [0, 0, 0];
  values.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    count++;
    positions += i;
    sum += value;
  });
  const [centre, mean] = [positions / count, sum / count];
  let [products, squares] = [0, 0];
  values.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    products += (i - centre) * (value - mean);
    squares += (i - centre) ** 2;
  });
  const slope = squares === 0 ? 0 : products / squares;
  return values.map((value, i) => value - mean - slope * (i - centre));
}

/** Marks where values are missing, by their distance from the end, from 0. */
export function markGaps(gaps: Uint8Array, values: Float64Array): void {
  const last = values.length - 1;
  for (let back = 0; back < gaps.length; back++) if (Number.isNaN(values[last - back])) gaps[back] = 1;
}

/** Windows of `h` values without a gap, each by the distance of its first value from the end of the history. */
export function windowsWithoutGaps(gaps: Uint8Array, h: number): Uint32Array {
  const found = new Uint32Array(Math.max(0, gaps.length - h + 1));
  let [count, run] = [0, 0];
  gaps.forEach((gap, back) => {
    run = gap === 0 ? run + 1 : 0;
    if (run >= h) found[count++] = back + 1;
  });
  return found.subarray(0, count);
}
