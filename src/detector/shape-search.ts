import { SCALARS } from './series-memory.ts';
import type { SeriesRings } from './series-rings.ts';
import { LAG_MAX, LAG_MIN, LEVEL_VALUES, SEED_PERIOD, SEED_ROWS } from './shape-lags.ts';

/** What the distances forget with every row. */
const FORGETTING = 0.8;

/** Innovations of a run of positions, shared by all searches: each fills it before it reads it. */
const VALUES = new Float32Array(LAG_MAX + SEED_PERIOD + SEED_ROWS + LEVEL_VALUES + 1);
const INNOVATIONS = new Float64Array(VALUES.length);

/**
 * Compares the newest values of a series with its own past, whatever the level: which earlier stretch was most alike,
 * and how far is it?
 *
 *   innovation   a[i] = x[i] - mean(x[i-4 .. i-1]), clamped, so that one outlier is one
 *   distance     V[L] <- 0.8 V[L] + 0.2 (a[t] - a[t-L])^2     for every lag L = 16 .. 464
 *   nearest      the lag of the smallest distance; the shortest of equal ones
 *
 * A nearest-neighbour distance of subsequences (a discord, Keogh 2005) in a form that costs O(1) a lag and row.
 * Distances are seeded from the ring of values at every 24th position, so that they are a function of the ring and need
 * not be kept in the changelog.
 */
export class ShapeSearch {
  readonly #rings: SeriesRings;
  /** Lag of the nearest stretch as of the newest row; 0 while there is none. */
  nearest = 0;
  /** Mean square distance of that stretch. */
  distance = Number.POSITIVE_INFINITY;

  constructor(rings: SeriesRings) {
    this.#rings = rings;
  }

  /** x - its local level at `position`, which is in the ring; 0 where nothing is known. */
  innovationAt(position: number): number {
    this.#loadInnovations(position, position + 1);
    return INNOVATIONS[0];
  }

  /** Seeds the distances as of `position`, the next to come. */
  seed(position: number): void {
    const { slab, layout } = this.#rings;
    const from = distancesStart(this.#rings);
    slab.floats.fill(Number.POSITIVE_INFINITY, from, from + layout.lags);
    this.#advance(Math.max(this.#rings.contextStart, position - SEED_ROWS), position);
    this.#findNearest(position);
  }

  /**
   * Takes the value at `position`, which is in the ring already. Returns its innovation. One pass over the ring
   * computes the innovations at all lags, moves the distances and finds the smallest: this is the most expensive loop
   * of a row.
   */
  observe(position: number): number {
    const now = this.innovationAt(position);
    const { contextStart, layout, slab } = this.#rings;
    const { floats } = slab;
    const capacity = layout.contextCapacity;
    const ring = this.#rings.floatStart;
    const distances = distancesStart(this.#rings);
    const clamp = this.#rings.scalar(SCALARS.innovationMax);
    const known = position - LAG_MIN - LEVEL_VALUES - contextStart + 1;
    const lags = Math.min(layout.lags, known);
    const searched = Math.min(layout.lags, known - SEED_ROWS);
    let best = Number.POSITIVE_INFINITY;
    let at = -1;
    if (lags > 0) {
      let index = (position - LAG_MIN) % capacity;
      const next = () => {
        const value = floats[ring + index];
        index = index === 0 ? capacity - 1 : index - 1;
        return value;
      };
      let [x0, x1, x2, x3] = [next(), next(), next(), next()];
      for (let lag = 0; lag < lags; lag++) {
        const x4 = floats[ring + index];
        index = index === 0 ? capacity - 1 : index - 1;
        let then = x0 - (x1 + x2 + x3 + x4) / LEVEL_VALUES;
        if (Number.isNaN(then)) then = innovationOfPresent(x0, x1, x2, x3, x4);
        then = Math.min(clamp, Math.max(-clamp, then));
        const change = now - then;
        const square = change * change;
        const before = floats[distances + lag];
        const distance = Math.fround(
          before === Number.POSITIVE_INFINITY ? square : FORGETTING * before + (1 - FORGETTING) * square,
        );
        floats[distances + lag] = distance;
        if (distance < best && lag < searched) {
          best = distance;
          at = lag;
        }
        x0 = x1;
        x1 = x2;
        x2 = x3;
        x3 = x4;
      }
    }
    this.distance = best;
    this.nearest = at < 0 ? 0 : LAG_MIN + at;
    return now;
  }

  /** After a restore: computes what `seed` and `observe` had come to before `position`. */
  restore(position: number): void {
    const seeded = Math.max(position - (position % SEED_PERIOD), this.#rings.contextStart);
    if (seeded === position) return;
    this.seed(seeded);
    this.#advance(seeded, position);
    this.#findNearest(position - 1);
  }

  /** Takes rows [from, to) into the distances, without a search. */
  #advance(from: number, to: number): void {
    const { contextStart, layout, slab } = this.#rings;
    const compared = layout.lags === 0 ? from : from - LAG_MIN - layout.lags + 1;
    const earliest = Math.max(contextStart + LEVEL_VALUES, compared);
    const base = Math.max(contextStart, Math.min(earliest, from));
    this.#loadInnovations(base, to);
    const { floats } = slab;
    const start = distancesStart(this.#rings);
    for (let row = from; row < to; row++) {
      const now = INNOVATIONS[row - base];
      const first = row - base - LAG_MIN;
      const lags = Math.min(layout.lags, row - LAG_MIN - LEVEL_VALUES - contextStart + 1);
      for (let lag = 0; lag < lags; lag++) {
        const change = now - INNOVATIONS[first - lag];
        const square = change * change;
        const before = floats[start + lag];
        floats[start + lag] =
          before === Number.POSITIVE_INFINITY ? square : FORGETTING * before + (1 - FORGETTING) * square;
      }
    }
  }

  #findNearest(position: number): void {
    const { contextStart, layout, slab } = this.#rings;
    const { floats } = slab;
    const start = distancesStart(this.#rings);
    const lags = Math.min(layout.lags, position - SEED_ROWS - LAG_MIN - LEVEL_VALUES - contextStart + 1);
    let best = Number.POSITIVE_INFINITY;
    let at = -1;
    for (let lag = 0; lag < lags; lag++) {
      if (floats[start + lag] < best) {
        best = floats[start + lag];
        at = lag;
      }
    }
    this.distance = best;
    this.nearest = at < 0 ? 0 : LAG_MIN + at;
  }

  /** Fills INNOVATIONS with those of positions [from, to). */
  #loadInnovations(from: number, to: number): void {
    const first = Math.max(this.#rings.contextStart, from - LEVEL_VALUES);
    this.#rings.copyDistances(VALUES, first, to);
    const clamp = this.#rings.scalar(SCALARS.innovationMax);
    for (let position = from; position < to; position++) {
      const at = position - first;
      INNOVATIONS[position - from] = clamped(innovationIn(at), clamp);
    }
  }
}

/** x - its local level at an index of VALUES; 0 where nothing is known. */
function innovationIn(at: number): number {
  if (at >= LEVEL_VALUES) {
    const innovation = VALUES[at] - (VALUES[at - 1] + VALUES[at - 2] + VALUES[at - 3] + VALUES[at - 4]) / LEVEL_VALUES;
    if (!Number.isNaN(innovation)) return innovation;
  }
  const before = (back: number) => (at - back >= 0 ? VALUES[at - back] : Number.NaN);
  return innovationOfPresent(VALUES[at], before(1), before(2), before(3), before(4));
}

/** The same where some of the values are missing. */
function innovationOfPresent(value: number, ...levels: readonly number[]): number {
  const present = levels.filter((level) => !Number.isNaN(level));
  if (Number.isNaN(value) || present.length === 0) return 0;
  return value - present.reduce((sum, level) => sum + level, 0) / present.length;
}

function clamped(innovation: number, clamp: number): number {
  return Math.min(clamp, Math.max(-clamp, innovation));
}

function distancesStart({ floatStart, layout }: SeriesRings): number {
  return floatStart + layout.contextCapacity + layout.residualCapacity;
}
