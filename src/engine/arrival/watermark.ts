import type { WatermarkState } from '../../checkpoint/partition-records.ts';

/**
 * The event time of a partition: the newest time that two records reached, so that one record with a wrong time does
 * not move it. Records of one series count as two only where their times differ.
 */
export class Watermark {
  #firstMs = Number.NEGATIVE_INFINITY;
  #secondMs = Number.NEGATIVE_INFINITY;

  get ms(): number {
    return this.#secondMs;
  }

  get state(): WatermarkState {
    return { firstMs: this.#firstMs, secondMs: this.#secondMs };
  }

  restore({ firstMs, secondMs }: WatermarkState): void {
    this.#firstMs = firstMs;
    this.#secondMs = secondMs;
  }

  /** A record that is newer than all others of its series. */
  reach(timestampMs: number): void {
    if (timestampMs >= this.#firstMs) {
      this.#secondMs = this.#firstMs;
      this.#firstMs = timestampMs;
    } else if (timestampMs > this.#secondMs) this.#secondMs = timestampMs;
  }
}
