import { SCALARS } from '../memory/series-memory.ts';
import type { SeriesRings } from '../memory/series-rings.ts';
import { LAG_MAX, LAG_MIN, LEVEL_VALUES, SEED_PERIOD, SEED_ROWS } from '../memory/shape-lags.ts';

/** What the distances forget with every row. */
const FORGETTING = 0.8;

/** Innovations of a run of positions, shared by all searches: each fills it before it reads it. */
const INNOVATIONS = new Float64Array(LAG_MAX + SEED_PERIOD + SEED_ROWS + LEVEL_VALUES + 1);
/** The values before the run, newest first. */
const LEVEL = new Float64Array(LEVEL_VALUES);

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

  /** Takes the value at `position`, which is in the ring already. Returns its innovation. */
  observe(position: number): number {
    const now = this.innovationAt(position);
    const { contextStart, layout } = this.#rings;
    const known = Math.min(layout.lags + SEED_ROWS, position - LAG_MIN - LEVEL_VALUES - contextStart + 1) | 0;
    const lags = Math.max(0, Math.min(layout.lags, known));
    this.#loadInnovations(position - LAG_MIN - lags + 1, position - LAG_MIN + 1);
    this.#move(now, lags, known - SEED_ROWS);
    return now;
  }

  /**
   * Moves the distances of so many lags by one row, whose innovations are loaded, and finds the smallest of those
   * searched. Innovations and distances take a loop each, which is faster than one: they are the most of a row's time.
   */
  #move(now: number, lags: number, searched: number): void {
    const { floats } = this.#rings.slab;
    const distances = distancesStart(this.#rings);
    const newest = lags - 1;
    let best = Number.POSITIVE_INFINITY;
    let at = -1;
    for (let lag = 0; lag < lags; lag++) {
      const change = now - INNOVATIONS[newest - lag];
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
    }
    this.distance = best;
    this.nearest = at < 0 ? 0 : LAG_MIN + at;
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

  /**
   * Fills INNOVATIONS with those of positions [from, to). Its loop has integers and numbers of typed arrays alone: what
   * calls return, and scalars that are indexes, would be boxed or converted in every round.
   */
  #loadInnovations(from: number, to: number): void {
    const { contextStart, layout, slab, floatStart } = this.#rings;
    const { floats } = slab;
    const { contextCapacity } = layout;
    const clamp = this.#rings.scalar(SCALARS.innovationMax);
    LEVEL.fill(Number.NaN);
    for (let back = 1; back <= LEVEL_VALUES && from - back >= contextStart; back++) {
      LEVEL[back - 1] = floats[floatStart + ((from - back) % contextCapacity)];
    }
    let x1 = LEVEL[0];
    let x2 = LEVEL[1];
    let x3 = LEVEL[2];
    let x4 = LEVEL[3];
    let at = (floatStart + (from % contextCapacity)) | 0;
    const end = (floatStart + contextCapacity) | 0;
    const count = (to - from) | 0;
    for (let i = 0; i < count; i++) {
      const x0 = floats[at];
      at = at + 1 === end ? end - contextCapacity : at + 1;
      const innovation = x0 - (x1 + x2 + x3 + x4) / LEVEL_VALUES;
      if (innovation >= -clamp && innovation <= clamp) INNOVATIONS[i] = innovation;
      else INNOVATIONS[i] = clampedOf([x0, x1, x2, x3, x4], innovation, clamp);
      x4 = x3;
      x3 = x2;
      x2 = x1;
      x1 = x0;
    }
  }
}

/** The clamped innovation of the first value, where the others are its level; NaN stands for what is missing. */
function clampedOf(values: readonly number[], innovation: number, clamp: number): number {
  const known = Number.isNaN(innovation) ? innovationOfPresent(values) : innovation;
  return Math.min(clamp, Math.max(-clamp, known));
}

/** 0 where nothing is known. */
function innovationOfPresent([value, ...levels]: readonly number[]): number {
  const present = levels.filter((level) => !Number.isNaN(level));
  if (Number.isNaN(value) || present.length === 0) return 0;
  return value - present.reduce((sum, level) => sum + level, 0) / present.length;
}

function distancesStart({ floatStart, layout }: SeriesRings): number {
  return floatStart + layout.contextCapacity + layout.residualCapacity;
}
