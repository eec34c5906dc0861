import { partsOf, type SeriesParts, sharedContexts } from './series-parts.ts';

/** Series that a sample may have missed. */
const MISSED = 2;

/** A fleet without a past: its target rate of false events, and what its series share, by a sample of them. */
export class NewFleet {
  readonly falsePerMs: number;
  readonly #sampled: number;
  readonly #counts = new Map<string, number>();

  /** @param sample ids of series, by chance; those of a small fleet are all there */
  constructor(falsePerMs: number, sample: readonly string[] = []) {
    this.falsePerMs = falsePerMs;
    this.#sampled = sample.length;
    for (const series of sample) {
      const parts = partsOf(series);
      for (const key of [...sharedContexts(parts), ...namesOf(parts)])
        this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    }
  }

  /** Returns the largest likely share of series with a context. Ids without its dimension may hide it. */
  shareOf(context: string): number {
    if (this.#sampled === 0) return 1;
    const visible = this.#counts.get(nameOf(context)) ?? 0;
    const hidden = this.#sampled - visible;
    return Math.min(1, ((this.#counts.get(context) ?? 0) + hidden + MISSED) / this.#sampled);
  }
}

/** The dimensions of a series, and METRIC if it has one. */
function namesOf(parts: SeriesParts): readonly string[] {
  return sharedContexts(parts).map(nameOf);
}

/** A context up to its last separator. */
function nameOf(context: string): string {
  return context.slice(0, context.lastIndexOf('\u0000') + 1);
}
