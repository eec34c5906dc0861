import { type Frequency, meanStepMs } from '../../time/frequency.ts';

/** A distance between these shares of a step is a step: jitter, and months of 28 to 31 days. */
const STEP_SHARE_MIN = 0.7;
const STEP_SHARE_MAX = 1.4;
/** Other distances are counted in classes, so many for each doubling, and at most so many doublings from a step. */
const CLASSES_PER_DOUBLING = 4;
const DOUBLINGS_MAX = 16;

interface DistanceClass {
  count: number;
  sumMs: number;
}

/**
 * What became of the observations of one detector on their grids, and how far apart they arrived. Bounded: a class of
 * distances is a quarter of a doubling wide.
 */
export class Arrivals {
  readonly freq: Frequency;
  readonly #stepMs: number;
  /** Observations that filled a time step of their series. */
  accepted = 0;
  /** Observations of a time step that was filled already. */
  duplicates = 0;
  /** Time steps without an observation between two that were filled. */
  missing = 0;
  #onStep = 0;
  readonly #others = new Map<number, DistanceClass>();

  constructor(freq: Frequency) {
    this.freq = freq;
    this.#stepMs = meanStepMs(freq);
  }

  get observations(): number {
    return this.accepted + this.duplicates;
  }

  /** @param apartMs from the observation of the series before it; NaN for the first one */
  accept(apartMs: number, missing: number): void {
    this.accepted++;
    this.missing += missing;
    this.#count(apartMs);
  }

  repeat(apartMs: number): void {
    this.duplicates++;
    this.#count(apartMs);
  }

  #count(apartMs: number): void {
    const share = apartMs / this.#stepMs;
    if (share > STEP_SHARE_MIN && share < STEP_SHARE_MAX) this.#onStep++;
    // The same time twice is a repeated record, not a step. NaN is not above 0 either.
    else if (share > 0) this.#countOther(share, { count: 1, sumMs: apartMs });
  }

  #countOther(share: number, { count, sumMs }: DistanceClass): void {
    const doublings = Math.max(-DOUBLINGS_MAX, Math.min(DOUBLINGS_MAX, Math.log2(share)));
    const at = Math.round(doublings * CLASSES_PER_DOUBLING);
    const known = this.#others.get(at);
    if (known === undefined) this.#others.set(at, { count, sumMs });
    else {
      known.count += count;
      known.sumMs += sumMs;
    }
  }

  add(other: Arrivals): void {
    this.accepted += other.accepted;
    this.duplicates += other.duplicates;
    this.missing += other.missing;
    this.#onStep += other.#onStep;
    for (const distances of other.#others.values()) {
      this.#countOther(distances.sumMs / distances.count / this.#stepMs, distances);
    }
  }

  /**
   * The most frequent distance that is no step, and its share of all distances; null if every distance is one. Two
   * neighbours of a class count with it: jitter may divide a distance between them.
   */
  otherStep(): { readonly stepMs: number; readonly share: number } | null {
    const distances = [...this.#others.values()].reduce((sum, { count }) => sum + count, this.#onStep);
    let best: DistanceClass = { count: 0, sumMs: 0 };
    for (const at of this.#others.keys()) {
      const near = [at - 1, at, at + 1].flatMap((one) => this.#others.get(one) ?? []);
      const count = near.reduce((sum, one) => sum + one.count, 0);
      if (count > best.count) best = { count, sumMs: near.reduce((sum, one) => sum + one.sumMs, 0) };
    }
    return best.count === 0 ? null : { stepMs: best.sumMs / best.count, share: best.count / distances };
  }
}
