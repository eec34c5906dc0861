import { type RecordRoute, routeRecords } from '../commit/route-records.ts';
import type { InputRecord } from '../log/log.ts';
import { PartitionStrategy, type StrategyContext, type StrategyOptions } from './partition-strategy.ts';

/**
 * Records that are made of those with many observations, in a transaction, and the bytes of these that are split at
 * once: both except for one more record.
 */
const [SPLIT_OUTPUTS_MAX, SPLIT_BYTES_MAX] = [50_000, 256 * 1024];

/** Writes the records of a partition under the ids of their series or groups. No series has a state. */
export class Rekeying extends PartitionStrategy {
  readonly #route: RecordRoute;
  #submitted: readonly InputRecord[] = [];
  readonly quietMs = null;

  constructor(options: StrategyOptions, route: RecordRoute, context: StrategyContext) {
    super(options, context);
    this.#route = route;
  }

  get submitted(): number {
    return this.#submitted.length;
  }

  override get bytesLeft(): number {
    if (this.options.splitter === null) return super.bytesLeft;
    return this.pending.outputCount < SPLIT_OUTPUTS_MAX ? Math.min(super.bytesLeft, SPLIT_BYTES_MAX) : 0;
  }

  async submit(records: readonly InputRecord[], bytes: number): Promise<void> {
    this.try(records);
    this.#submitted = records;
    this.bytes += bytes;
  }

  isReady(): boolean {
    return this.#submitted.length > 0;
  }

  async advance(): Promise<void> {
    const { pending, options, context } = this;
    await routeRecords(this.#submitted, { pending, scoring: options, route: this.#route, ...context });
    this.#submitted = [];
  }
}
