/** The silences of partitions after one fault. */
interface Silences {
  readonly faultMs: number;
  readonly longest: number[];
  /** When every partition had a leader again. */
  leadersMs: number;
  readonly afterLeaders: number[];
  /** Until when the last transaction of each partition waited for its markers, since then. */
  readonly markersMs: number[];
  readonly afterMarkers: number[];
}

/** Times from a fault to the next scores, by partition. */
export class Recovery {
  readonly #lastMs: number[];
  #now: Silences | null = null;
  /** The longest silence of each partition after each fault. */
  readonly silencesMs: number[] = [];
  /** The longest silence since the leaders are back. */
  readonly leaderSilencesMs: number[] = [];
  /** The same without the time that the last transaction waited for its markers: until then nothing can be written. */
  readonly brokerSilencesMs: number[] = [];

  constructor(partitions: number, nowMs: number) {
    this.#lastMs = Array.from({ length: partitions }, () => nowMs);
  }

  begin(faultMs: number): void {
    const none = () => this.#lastMs.map(() => 0);
    const [longest, afterLeaders, afterMarkers, markersMs] = [none(), none(), none(), none()];
    this.#now = { faultMs, longest, leadersMs: Number.POSITIVE_INFINITY, afterLeaders, markersMs, afterMarkers };
  }

  /**
   * Returns how to see that the last transaction of a partition waits for its markers, and has done so since the
   * leaders are back.
   */
  leadersAreBack(nowMs: number): (partition: number, nowMs: number) => void {
    const silences = this.#now;
    if (silences !== null) silences.leadersMs = nowMs;
    return (partition, waitingMs) => {
      if (silences !== null) silences.markersMs[partition] = waitingMs;
    };
  }

  scored(partition: number, nowMs: number): void {
    const since = this.#lastMs[partition];
    this.#lastMs[partition] = nowMs;
    if (this.#now === null) return;
    const { faultMs, longest, leadersMs, afterLeaders, markersMs, afterMarkers } = this.#now;
    const note = (silences: number[], fromMs: number) => {
      silences[partition] = Math.max(silences[partition], nowMs - Math.max(since, fromMs));
    };
    note(longest, faultMs);
    note(afterLeaders, leadersMs);
    note(afterMarkers, Math.max(leadersMs, markersMs[partition]));
  }

  /** Every partition has scored since `sinceMs`. */
  allScoredSince(sinceMs: number): boolean {
    return this.#lastMs.every((lastMs) => lastMs > sinceMs);
  }

  end(): void {
    if (this.#now === null) return;
    const { longest, leadersMs, afterLeaders, afterMarkers } = this.#now;
    this.silencesMs.push(...longest);
    if (Number.isFinite(leadersMs)) {
      this.leaderSilencesMs.push(...afterLeaders);
      this.brokerSilencesMs.push(...afterMarkers);
    }
    this.#now = null;
  }
}

/** In seconds; null without any. */
export function quantileSeconds(valuesMs: readonly number[], level: number): number | null {
  const sorted = [...valuesMs].sort((a, b) => a - b);
  const ms = sorted[Math.min(sorted.length - 1, Math.ceil(level * sorted.length) - 1)];
  return ms === undefined ? null : Number((ms / 1000).toFixed(2));
}
