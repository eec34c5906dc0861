const MS_MAX = 600_000;

/** Latencies in whole milliseconds: their number is not bounded, so they are counted. */
export class Latencies {
  readonly #counts = new Uint32Array(MS_MAX + 1);
  #total = 0;

  add(ms: number): void {
    this.#counts[Math.min(MS_MAX, Math.max(0, Math.round(ms)))]++;
    this.#total++;
  }

  /** At or below it is this share of them; null without any. */
  quantile(share: number): number | null {
    let seen = 0;
    const ms = this.#counts.findIndex((count) => {
      seen += count;
      return seen > 0 && seen >= share * this.#total;
    });
    return ms < 0 ? null : ms;
  }
}
