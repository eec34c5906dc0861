import { BFLOAT_INFINITE, ofBfloatBits } from '../calibration/bfloat16.ts';
import { SCALARS } from '../memory/series-memory.ts';
import type { SeriesRings } from '../memory/series-rings.ts';
import { LAG_MIN, LEVEL_VALUES, SEED_PERIOD, SEED_ROWS } from '../memory/shape-lags.ts';
import { common, DISTANCES, INNOVATIONS, innovate, move, moveAround, VALUES } from './shape-kernel.ts';

/**
 * Finds the earlier stretch of a series that is most similar to its newest values, regardless of level, and its
 * distance.
 *
 *   innovation   a[i] = x[i] - mean(x[i-4 .. i-1]), clamped, so that one outlier is one
 *   distance     V[L] <- 0.8 V[L] + 0.2 (a[t] - a[t-L])^2     for every lag L = 16 .. 464
 *   nearest      the lag of the smallest distance; the shortest of equal ones
 *
 * Of two rows that miss values, what both have is compared: their levels are means of the same rows, so that a trend is
 * no difference. If that is nothing, the earlier one is expected to show 0, so that no lag is the nearest unseen.
 *
 * A nearest-neighbour distance of subsequences (a discord, Keogh 2005) in a form that costs O(1) a lag and row.
 * Distances are seeded from the ring of values at every 24th position, so that they are a function of the ring and need
 * not be kept in the changelog. They are bfloat16: between one seed and the next at most 40 roundings add up, which
 * have no direction. The arithmetic is that of shape-kernel.ts.
 */

/** Lag of the nearest stretch as of the newest row; 0 while there is none. */
export function nearestLag({ slab, bfloatStart, layout }: SeriesRings): number {
  return layout.lags === 0 ? 0 : slab.bfloats[bfloatStart + layout.shapeStart + layout.lags];
}

/** Mean square distance of that stretch; infinite while there is none. */
export function nearestDistance(rings: SeriesRings): number {
  const nearest = nearestLag(rings);
  const { slab, bfloatStart, layout } = rings;
  if (nearest === 0) return Number.POSITIVE_INFINITY;
  return ofBfloatBits(slab.bfloats[bfloatStart + layout.shapeStart + nearest - LAG_MIN]);
}

/** Seeds the distances as of `position`, the next to come. */
export function seedShapes(rings: SeriesRings, position: number): void {
  if (rings.layout.lags === 0) return;
  startDistances(rings, position);
  keepDistances(rings, smallest(searchedLags(rings, position)));
}

/** Tracks the value at `position`, which is in the ring. Returns its innovation, infinite behind a missing one. */
export function trackShape(rings: SeriesRings, position: number): number {
  const { layout, slab, bfloatStart } = rings;
  const lags = Math.max(0, Math.min(layout.lags, comparedLags(rings, position)));
  const unknown = loadInnovations(rings, lags > 0 ? position - LAG_MIN - lags + 1 : position, position + 1);
  if (layout.lags > 0) {
    const start = bfloatStart + layout.shapeStart;
    DISTANCES.set(slab.bfloats.subarray(start, start + layout.lags));
    const searched = searchedLags(rings, position);
    keepDistances(rings, unknown > 0 && lags > 0 ? moveAround(0, lags, searched) : move(0, lags, searched));
  }
  return INNOVATIONS[0];
}

/**
 * How far the innovation of the row that was tracked last, of any series, lies from that of its analogue; NaN if
 * they have nothing in common. What followed a glitch, or was one, beyond `cut`, is expected of no other row.
 */
export function leftByAnalogue(lag: number, cut: number): number {
  const isWhole = Number.isFinite(INNOVATIONS[0] - INNOVATIONS[lag]);
  if (isWhole) return left(INNOVATIONS[0], INNOVATIONS[lag], cut);
  const [innovation, earlier] = common(0, lag);
  return left(innovation, earlier, cut);
}

function left(innovation: number, earlier: number, cut: number): number {
  return Math.abs(earlier) >= cut ? Number.NaN : Math.abs(innovation - earlier);
}

/** After a restore: computes what `seedShapes` and `trackShape` had come to before `position`. */
export function restoreShapes(rings: SeriesRings, position: number): void {
  const seeded = Math.max(position - (position % SEED_PERIOD), rings.contextStart);
  if (seeded === position || rings.layout.lags === 0) return;
  startDistances(rings, seeded);
  advance(rings, seeded, position);
  keepDistances(rings, smallest(searchedLags(rings, position - 1)));
}

/**
 * True if the row at `position` was searched at LAG_MIN lags: they contain a multiple of every season of up to LAG_MIN
 * rows. With fewer lags the nearest stretch may be unlike, and its distance is no scale.
 */
export function isSearched(rings: SeriesRings, position: number): boolean {
  return searchedLags(rings, position) >= Math.min(rings.layout.lags, LAG_MIN);
}

/** Number of lags at which a row can be compared, if there are as many. */
function comparedLags({ contextStart }: SeriesRings, position: number): number {
  return position - LAG_MIN - LEVEL_VALUES - contextStart + 1;
}

/** Number of lags at which a row can be searched: those that were compared with enough rows. */
function searchedLags(rings: SeriesRings, position: number): number {
  return Math.min(rings.layout.lags, comparedLags(rings, position) - SEED_ROWS);
}

function startDistances(rings: SeriesRings, position: number): void {
  DISTANCES.fill(BFLOAT_INFINITE);
  advance(rings, Math.max(rings.contextStart, position - SEED_ROWS), position);
}

/** Adds rows [from, to) to the distances, without a search. */
function advance(rings: SeriesRings, from: number, to: number): void {
  if (from === to) return;
  const { contextStart, layout } = rings;
  const earliest = Math.max(contextStart + LEVEL_VALUES, from - LAG_MIN - layout.lags + 1);
  const unknown = loadInnovations(rings, Math.max(contextStart, Math.min(earliest, from)), to);
  for (let row = from; row < to; row++) {
    const lags = Math.min(layout.lags, comparedLags(rings, row));
    if (lags > 0) (unknown > 0 ? moveAround : move)(to - 1 - row, lags, lags);
  }
}

/** Index of the smallest of so many distances, the first of equal ones; -1 where there is none. Bits are in order. */
function smallest(lags: number): number {
  let best = BFLOAT_INFINITE;
  let at = -1;
  for (let lag = 0; lag < lags; lag++) {
    if (DISTANCES[lag] < best) {
      best = DISTANCES[lag];
      at = lag;
    }
  }
  return at;
}

function keepDistances({ slab, bfloatStart, layout }: SeriesRings, nearest: number): void {
  const start = bfloatStart + layout.shapeStart;
  slab.bfloats.set(layout.lags === DISTANCES.length ? DISTANCES : DISTANCES.subarray(0, layout.lags), start);
  slab.bfloats[start + layout.lags] = nearest < 0 ? 0 : LAG_MIN + nearest;
}

/** Fills INNOVATIONS with those of positions [from, to), newest first. Returns how many are not known whole. */
function loadInnovations(rings: SeriesRings, from: number, to: number): number {
  const { contextStart, layout, slab, floatStart } = rings;
  const { floats } = slab;
  const { contextCapacity } = layout;
  const start = Math.max(contextStart, from - LEVEL_VALUES);
  const unknown = start - from + LEVEL_VALUES;
  VALUES.fill(Number.NaN, 0, unknown);
  const count = to - start;
  const first = floatStart + (start % contextCapacity);
  const run = Math.min(count, floatStart + contextCapacity - first);
  VALUES.set(floats.subarray(first, first + run), unknown);
  if (run < count) VALUES.set(floats.subarray(floatStart, floatStart + count - run), unknown + run);
  return innovate(to - from, rings.scalar(SCALARS.innovationMax));
}
