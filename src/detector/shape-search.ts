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
    const { block, layout } = this.#rings;
    const from = distancesStart(this.#rings);
    block.slab.floats.fill(Number.POSITIVE_INFINITY, from, from + layout.lags);
    this.#advance(Math.max(this.#rings.contextStart, position - SEED_ROWS), position);
    this.#findNearest(position);
  }

  /** Takes the value at `position`, which is in the ring already. Returns its innovation. */
  observe(position: number): number {
    const innovation = this.#advance(position, position + 1);
    this.#findNearest(position);
    return innovation;
  }

  /** After a restore: computes what `seed` and `observe` had come to before `position`. */
  restore(position: number): void {
    const seeded = Math.max(position - (position % SEED_PERIOD), this.#rings.contextStart);
    if (seeded === position) return;
    this.seed(seeded);
    this.#advance(seeded, position);
    this.#findNearest(position - 1);
  }

  /** Takes rows [from, to) into the distances. Returns the innovation of the last. */
  #advance(from: number, to: number): number {
    const { contextStart, layout, block } = this.#rings;
    const compared = layout.lags === 0 ? from : from - LAG_MIN - layout.lags + 1;
    const earliest = Math.max(contextStart + LEVEL_VALUES, compared);
    const base = Math.max(contextStart, Math.min(earliest, from));
    this.#loadInnovations(base, to);
    const { floats } = block.slab;
    const start = distancesStart(this.#rings);
    for (let row = from; row < to; row++) {
      const now = INNOVATIONS[row - base];
      const lags = Math.min(layout.lags, row - LAG_MIN - LEVEL_VALUES - contextStart + 1);
      for (let lag = 0; lag < lags; lag++) {
        const change = now - INNOVATIONS[row - base - LAG_MIN - lag];
        const before = floats[start + lag];
        const square = change * change;
        floats[start + lag] =
          before === Number.POSITIVE_INFINITY ? square : FORGETTING * before + (1 - FORGETTING) * square;
      }
    }
    return to > from ? INNOVATIONS[to - 1 - base] : 0;
  }

  #findNearest(position: number): void {
    const { contextStart, layout, block } = this.#rings;
    const { floats } = block.slab;
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
      const level =
        at >= LEVEL_VALUES
          ? (VALUES[at - 1] + VALUES[at - 2] + VALUES[at - 3] + VALUES[at - 4]) / LEVEL_VALUES
          : Number.NaN;
      const innovation = VALUES[at] - (level - level === 0 ? level : levelOfPresent(at));
      INNOVATIONS[position - from] =
        innovation - innovation === 0 ? (innovation > clamp ? clamp : innovation < -clamp ? -clamp : innovation) : 0;
    }
  }
}

/** Mean of up to four values before `at` that are not missing; NaN without any. */
function levelOfPresent(at: number): number {
  let sum = 0;
  let count = 0;
  for (let i = Math.max(0, at - LEVEL_VALUES); i < at; i++) {
    if (Number.isNaN(VALUES[i])) continue;
    sum += VALUES[i];
    count++;
  }
  return count === 0 ? Number.NaN : sum / count;
}

function distancesStart({ block, layout }: SeriesRings): number {
  return block.floatStart + layout.contextCapacity + layout.residualCapacity;
}
