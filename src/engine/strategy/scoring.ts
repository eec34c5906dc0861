import { QuietPartition } from '../commit/quiet-partition.ts';
import { type DecodedRecords, divideDecoded, scoreDecoded, toObservations } from '../commit/score-records.ts';
import type { InputRecord } from '../log/log.ts';
import { PartitionStrategy } from './partition-strategy.ts';

/** Submitted records that are scored next, and those after them. */
type Divided = readonly [ready: DecodedRecords, rest: DecodedRecords | null];

/**
 * Scores the records of a partition. While a transaction commits, the next records are scored, as far as no series
 * needs a forecast that is on its way.
 */
export class Scoring extends PartitionStrategy {
  #submitted: DecodedRecords | null = null;
  #submittedBytes = 0;
  #next: Divided | null = null;
  #quiet: QuietPartition | null = null;

  get submitted(): number {
    return this.#submitted?.records.length ?? 0;
  }

  async submit(records: readonly InputRecord[], bytes: number): Promise<void> {
    this.try(records);
    const { whyFailed } = this.context;
    this.#submitted = await toObservations(records, { state: this.state, scoring: this.options, whyFailed });
    this.#submittedBytes = bytes;
  }

  override poll(): void {
    const { state, pending: sink } = this;
    // No record is to blame if the model fails in a backfill.
    if (state.backfills.size > 0) this.tried = null;
    state.backfills.step({ sink, ...this.context });
  }

  isReady(): boolean {
    this.#next = this.#submitted === null ? null : this.#upToForecast(this.#submitted);
    return this.#next !== null;
  }

  /** Divides before the first record that waits for a forecast; null: that is the first of all. */
  #upToForecast(decoded: DecodedRecords): Divided | null {
    if (!this.state.awaitsForecasts) return [decoded, null];
    for (const observation of decoded.observations) {
      const forecast = this.state.forecastFor(observation);
      if (forecast === null) continue;
      forecast.catch(() => undefined).then(this.context.wake);
      const count = decoded.records.indexOf(observation.record);
      return count === 0 ? null : divideDecoded(decoded, count);
    }
    return [decoded, null];
  }

  async advance(all: boolean): Promise<void> {
    const { state, pending } = this;
    const { signal } = this.context;
    const next: Divided | null = all && this.#submitted !== null ? [this.#submitted, null] : this.#next;
    if (next === null) {
      const outlet = { offset: pending.nextOffset, sink: pending };
      return this.#quietPartition.report(state, outlet, signal);
    }
    const [ready, rest] = next;
    this.try(ready.records);
    const { advances } = state;
    await scoreDecoded(ready, { state, pending, signal });
    if (all) state.requestForecasts();
    if (state.advances > advances) {
      const { place, times } = this.options;
      times.reach(place.partition, ready.observations, state.watermark.ms);
      this.#quietPartition.reset();
    }
    [this.#submitted, this.#next] = [rest, null];
    if (rest === null) this.bytes += this.#submittedBytes;
  }

  /** Counts from the first call: before that, other partitions are restored. */
  get #quietPartition(): QuietPartition {
    const { nowMs, times, place } = this.options;
    const { inputEnd } = this.context;
    this.#quiet ??= new QuietPartition({ partition: place.partition, nowMs, times, inputEnd });
    return this.#quiet;
  }

  get quietMs(): number | null {
    return this.#quietPartition.waitMs;
  }

  override sleepMs(atMostMs: number | null): number | null {
    return this.state.backfills.sleepMs(atMostMs);
  }
}
