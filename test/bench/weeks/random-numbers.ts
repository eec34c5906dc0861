import { seededRandom } from '../../fixture/seeded-random.ts';

/** Random numbers of several distributions, the same for the same seed. */
export class RandomNumbers {
  readonly uniform: () => number;

  constructor(seed: number) {
    this.uniform = seededRandom(seed);
  }

  /** Normal, of mean 0 and deviation 1 (Box and Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
  }

  /** Knuth's product of uniform numbers: for small means. */
  poisson(mean: number): number {
    let [count, product] = [0, this.uniform()];
    for (const limit = Math.exp(-mean); product > limit; count++) product *= this.uniform();
    return count;
  }

  /** Lomax: a Pareto distribution that begins at 0. */
  pareto(shape: number): number {
    return (1 - this.uniform()) ** (-1 / shape) - 1;
  }
}
