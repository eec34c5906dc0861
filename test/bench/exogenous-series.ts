/** Synthetic hourly series with exogenous variables of known effect. */
import type { ExogenousVariable } from '../../src/forecast/exogenous/design.ts';
import { seededRandom } from '../fixture/seeded-random.ts';

export interface ExogenousSeries {
  readonly values: Float64Array;
  readonly variables: readonly ExogenousVariable[];
  /** The effect of the variables; null where they are unrelated. */
  readonly effect: Float64Array | null;
}

const DAY = 24;

/** Random parts of series; each call draws a new one. */
class Draws {
  readonly #length: number;
  /** In [0, 1). */
  readonly uniform: () => number;

  constructor(seed: number, length: number) {
    this.uniform = seededRandom(seed);
    this.#length = length;
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

  /** A daily season of two harmonics with random phases. */
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

  /** A piecewise constant level that shifts every four days on average. */
  levels(): Float64Array {
    let level = 0;
    return this.#steps(() => {
      if (this.uniform() < 0.01) level += 5 * this.normal();
      return level;
    });
  }

  /** 1 on whole days, about one of seven. */
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

function unrelated(values: Float64Array, ...variables: Float64Array[]): ExogenousSeries {
  return { values, variables: variables.map((own) => ({ values: own, categorical: false })), effect: null };
}

function related(rest: Float64Array, weight: number, values: Float64Array, categorical = false): ExogenousSeries {
  const effect = sumOf([weight, values]);
  return { values: sumOf([1, rest], [1, effect]), variables: [{ values, categorical }], effect };
}

/** The effect ends after two thirds of the series. */
function ended(rest: Float64Array, values: Float64Array, weight: number): ExogenousSeries {
  const effect = values.map((value, t) => (t < (2 / 3) * values.length ? weight * value : 0));
  return { values: sumOf([1, rest], [1, effect]), variables: [{ values, categorical: false }], effect };
}

/** Kinds by name. */
export const EXOGENOUS_KINDS: Readonly<Record<string, (draws: Draws) => ExogenousSeries>> = {
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

export function exogenousSeries(kind: string, seed: number, length: number): ExogenousSeries {
  return EXOGENOUS_KINDS[kind](new Draws(seed, length));
}

export interface SpikedSeries extends ExogenousSeries {
  /** 1 at spikes that the first kind of variable predicts. */
  readonly known: Float64Array;
  /** 1 at spikes that no variable predicts. */
  readonly unknown: Float64Array;
}

const KNOWN = 0.06;
const UNKNOWN = 0.02;
const SPIKE = 12;

/** Variables of a series with spikes. */
export const SPIKE_VARIABLES = ['tells of spikes', 'unrelated walk', 'season of another phase'] as const;

/**
 * A daily season with spikes, some of which a variable may predict.
 * @param start first position of unknown spikes
 */
export function spiked(
  kind: (typeof SPIKE_VARIABLES)[number],
  { seed, length, start }: { readonly seed: number; readonly length: number; readonly start: number },
): SpikedSeries {
  const draws = new Draws(seed, length);
  const rest = sumOf([5, draws.season()], [1, draws.noise(0.5)]);
  const known = draws.events(KNOWN);
  const unknown = draws.events(UNKNOWN).map((event, t) => (t < start || known[t] === 1 ? 0 : event));
  const others = sumOf([1, rest], [SPIKE, unknown]);
  if (kind === 'tells of spikes') return { ...related(others, SPIKE, known), known, unknown };
  const unrelatedVariable =
    kind === 'unrelated walk' ? draws.noise(1) : sumOf([5, draws.season()], [1, draws.noise(0.5)]);
  return { ...unrelated(others, unrelatedVariable), known: known.fill(0), unknown };
}
