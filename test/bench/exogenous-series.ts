/** Synthetic hourly series with exogenous variables of known effect. */
import type { ExogenousVariable } from '../../src/forecast/exogenous/design.ts';

export interface AccompaniedSeries {
  readonly values: Float64Array;
  readonly variables: readonly ExogenousVariable[];
  /** The effect of the variables; null where they are unrelated. */
  readonly effect: Float64Array | null;
}

const DAY = 24;

/** Parts of series; each call draws anew. */
class Draws {
  readonly #length: number;
  #state: number;

  constructor(seed: number, length: number) {
    this.#state = seed;
    this.#length = length;
  }

  /** In [0, 1) (mulberry32). */
  uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Nearly normal, mean 0 and deviation 1. */
  normal(): number {
    return (this.uniform() + this.uniform() + this.uniform() + this.uniform() - 2) * Math.sqrt(3);
  }

  /** Autoregressive noise: 0 is white, 1 a random walk. */
  noise(memory = 0): Float64Array {
    let last = 0;
    return this.#steps(() => {
      last = memory * last + this.normal();
      return last;
    });
  }

  /** A day of two harmonics, their phases by chance. */
  season(): Float64Array {
    const [first, second] = [2 * Math.PI * this.uniform(), 2 * Math.PI * this.uniform()];
    return this.#steps((t) => {
      const angle = (2 * Math.PI * t) / DAY;
      return Math.sin(angle + first) + 0.4 * Math.sin(2 * angle + second);
    });
  }

  trend(): Float64Array {
    const slope = 0.02 + 0.05 * this.uniform();
    return this.#steps((t) => slope * t);
  }

  /** A level that jumps every four days or so. */
  levels(): Float64Array {
    let level = 0;
    return this.#steps(() => {
      if (this.uniform() < 0.01) level += 5 * this.normal();
      return level;
    });
  }

  /** 1 on whole days, one of seven or so. */
  promotions(): Float64Array {
    let on = 0;
    return this.#steps((t) => {
      if (t % DAY === 0) on = Number(this.uniform() < 0.15);
      return on;
    });
  }

  /** 1 at single steps. */
  events(probability: number): Float64Array {
    return this.#steps(() => Number(this.uniform() < probability));
  }

  #steps(at: (t: number) => number): Float64Array {
    return Float64Array.from({ length: this.#length }, (_, t) => at(t));
  }
}

type Parts = readonly (readonly [weight: number, part: Float64Array])[];

function sumOf(...parts: Parts): Float64Array {
  return parts[0][1].map((_, t) => parts.reduce((sum, [weight, part]) => sum + weight * part[t], 0));
}

function unrelated(values: Float64Array, ...variables: Float64Array[]): AccompaniedSeries {
  return { values, variables: variables.map((own) => ({ values: own, categorical: false })), effect: null };
}

function related(rest: Float64Array, weight: number, values: Float64Array, categorical = false): AccompaniedSeries {
  const effect = sumOf([weight, values]);
  return { values: sumOf([1, rest], [1, effect]), variables: [{ values, categorical }], effect };
}

/** A third of the series before its end the variable stops to matter. */
function ended(rest: Float64Array, values: Float64Array, weight: number): AccompaniedSeries {
  const effect = values.map((value, t) => (t < (2 / 3) * values.length ? weight * value : 0));
  return { values: sumOf([1, rest], [1, effect]), variables: [{ values, categorical: false }], effect };
}

/** Kinds by name. */
export const ACCOMPANIED: Readonly<Record<string, (draws: Draws) => AccompaniedSeries>> = {
  'unrelated walk': (d) => unrelated(d.noise(1), d.noise(1)),
  'three unrelated walks': (d) => unrelated(d.noise(1), d.noise(1), d.noise(1), d.noise(1)),
  'unrelated walk beside a season': (d) => unrelated(sumOf([5, d.season()], [1, d.noise(0.5)]), d.noise(1)),
  'season of another phase': (d) =>
    unrelated(sumOf([5, d.season()], [1, d.noise(0.5)]), sumOf([5, d.season()], [1, d.noise(0.5)])),
  'shared trend': (d) => unrelated(sumOf([1, d.trend()], [1, d.noise(0.5)]), sumOf([1, d.trend()], [1, d.noise(0.5)])),
  'unrelated steps': (d) => unrelated(sumOf([1, d.levels()], [1, d.noise()]), d.levels()),
  'cointegrated walk': (d) => related(d.noise(0.5), 2, d.noise(1)),
  'white effect beside a season': (d) => related(sumOf([5, d.season()], [1, d.noise(0.5)]), 2, d.noise()),
  'effect with a season of its own': (d) =>
    related(sumOf([5, d.season()], [1, d.noise(0.5)]), 1, sumOf([5, d.season()], [1, d.noise(0.9)])),
  'season that is the effect': (d) => related(d.noise(0.5), 1, sumOf([5, d.season()], [1, d.noise(0.9)])),
  'promotions beside a season': (d) => related(sumOf([5, d.season()], [1, d.noise(0.5)]), 8, d.promotions(), true),
  'white effect on a walk': (d) => related(d.noise(1), 3, d.noise()),
  'small effect on a walk': (d) => related(d.noise(1), 0.5, d.noise()),
  'effect that ended': (d) => ended(sumOf([5, d.season()], [1, d.noise(0.5)]), d.noise(), 2),
  'steps that are the effect': (d) => related(sumOf([3, d.season()], [1, d.noise(0.5)]), 1, d.levels()),
};

export function accompanied(kind: string, seed: number, length: number): AccompaniedSeries {
  return ACCOMPANIED[kind](new Draws(seed, length));
}

export interface SpikedSeries extends AccompaniedSeries {
  /** 1 at spikes that a variable tells of, and at spikes that none tells of. */
  readonly told: Float64Array;
  readonly untold: Float64Array;
}

const TOLD = 0.06;
const UNTOLD = 0.02;
const SPIKE = 12;

/** What may lie beside a series with spikes. */
export const BESIDE_SPIKES = ['tells of spikes', 'unrelated walk', 'season of another phase'] as const;

/**
 * A day's season with spikes, some of which a variable may tell of.
 * @param start only from here on there are spikes that nothing tells of
 */
export function spiked(
  kind: (typeof BESIDE_SPIKES)[number],
  seed: number,
  length: number,
  start: number,
): SpikedSeries {
  const draws = new Draws(seed, length);
  const rest = sumOf([5, draws.season()], [1, draws.noise(0.5)]);
  const told = draws.events(TOLD);
  const untold = draws.events(UNTOLD).map((event, t) => (t < start || told[t] === 1 ? 0 : event));
  const others = sumOf([1, rest], [SPIKE, untold]);
  if (kind === 'tells of spikes') return { ...related(others, SPIKE, told), told, untold };
  const beside = kind === 'unrelated walk' ? draws.noise(1) : sumOf([5, draws.season()], [1, draws.noise(0.5)]);
  return { ...unrelated(others, beside), told: told.fill(0), untold };
}
