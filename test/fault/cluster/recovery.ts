/** Times from a fault to the next scores, by partition. */
export class Recovery {
  readonly #lastMs: number[];
  #faultMs = Number.POSITIVE_INFINITY;
  #leadersMs: number | null = null;
  #longest: number[] = [];
  #afterLeaders: (number | null)[] = [];
  /** The longest silence of each partition after each fault. */
  readonly silencesMs: number[] = [];
  /** From the return of the leaders to the next score. */
  readonly brokerSilencesMs: number[] = [];

  constructor(partitions: number, nowMs: number) {
    this.#lastMs = Array.from({ length: partitions }, () => nowMs);
  }

  begin(nowMs: number): void {
    this.#faultMs = nowMs;
    this.#leadersMs = null;
    this.#longest = this.#lastMs.map(() => 0);
    this.#afterLeaders = this.#lastMs.map(() => null);
  }

  leadersAreBack(nowMs: number): void {
    this.#leadersMs = nowMs;
  }

  scored(partition: number, nowMs: number): void {
    const silentSince = Math.max(this.#lastMs[partition], this.#faultMs);
    if (this.#faultMs <= nowMs) {
      this.#longest[partition] = Math.max(this.#longest[partition], nowMs - silentSince);
      if (this.#leadersMs !== null) this.#afterLeaders[partition] ??= nowMs - this.#leadersMs;
    }
    this.#lastMs[partition] = nowMs;
  }

  /** Every partition has scored since `sinceMs`. */
  allScoredSince(sinceMs: number): boolean {
    return this.#lastMs.every((lastMs) => lastMs > sinceMs);
  }

  end(): void {
    this.silencesMs.push(...this.#longest);
    if (this.#leadersMs !== null) this.brokerSilencesMs.push(...this.#afterLeaders.map((ms) => ms ?? 0));
    this.#faultMs = Number.POSITIVE_INFINITY;
  }
}

/** In seconds; null without any. */
export function quantileSeconds(valuesMs: readonly number[], level: number): number | null {
  const sorted = [...valuesMs].sort((a, b) => a - b);
  const ms = sorted[Math.min(sorted.length - 1, Math.ceil(level * sorted.length) - 1)];
  return ms === undefined ? null : Number((ms / 1000).toFixed(2));
}
