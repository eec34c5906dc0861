import { NO_RECORDS, type QueuedRecord, type WaitingRecords } from '../../changelog/arrival-state.ts';
import type { ReceivedObservation } from './batch-outcome.ts';
import type { OpenSteps } from './open-steps.ts';

/** Records of a unit whose time is not confirmed, and the bytes of each. What is beyond is refused at once. */
const UNCONFIRMED_MAX = 16;
const UNCONFIRMED_BYTES_MAX = 8_192;
/** Records of a unit that wait for older ones, and their bytes; the oldest of more of them does not wait. */
const OUT_OF_ORDER_MAX = 128;
const OUT_OF_ORDER_BYTES_MAX = 131_072;

type ReceivedList = readonly ReceivedObservation[];

/**
 * What the arrivals of a unit wait for. A record passes these places in this order, and mostly waits at none:
 *
 *   unconfirmed    its time jumps ahead, until another record agrees with that
 *   out of order   records before it may still come (`allowed_lateness`)
 *   open step      in place of that, where points are aggregated: others of its time step may still come
 *   for backfill   the unit calibrates first on what it continues; null: it continues nothing
 *   for forecast   the unit needs a forecast of a position before it; null: it does not
 *
 * All but the last are part of its state: a forecast is awaited before a commit.
 */
export class WaitingArrivals implements WaitingRecords {
  /** Points of open steps, and of counters; null where the unit has neither. */
  readonly steps: OpenSteps | null;
  #unconfirmed: ReceivedList = NO_RECORDS;
  #outOfOrder: ReceivedList = NO_RECORDS;
  #forBackfill: ReceivedObservation[] | null = null;
  #forForecast: ReceivedObservation[] | null = null;

  constructor(steps: OpenSteps | null = null) {
    this.steps = steps;
  }

  /** In the order of their offsets. */
  get unconfirmed(): ReceivedList {
    return this.#unconfirmed;
  }

  /** By event time. */
  get outOfOrder(): ReceivedList {
    return this.#outOfOrder;
  }

  /** In the order in which they are to be taken. */
  get forBackfill(): ReceivedList | null {
    return this.#forBackfill;
  }

  /** Those of the state, in the order of the places. */
  get all(): ReceivedList {
    return [...(this.#forBackfill ?? []), ...this.#outOfOrder, ...this.#unconfirmed];
  }

  /** Returns false where the record may not wait for confirmation: so many do, or it is too large. */
  awaitConfirmation(observation: ReceivedObservation): boolean {
    if (this.#unconfirmed.length >= UNCONFIRMED_MAX || bytesOf(observation) > UNCONFIRMED_BYTES_MAX) return false;
    this.#unconfirmed = [...this.#unconfirmed, observation];
    return true;
  }

  /** Its time was confirmed, or refuted. */
  decided(observation: ReceivedObservation): void {
    const rest = this.#unconfirmed.filter((one) => one !== observation);
    this.#unconfirmed = rest.length === 0 ? NO_RECORDS : rest;
  }

  takeUnconfirmed(): ReceivedList {
    const taken = this.#unconfirmed;
    this.#unconfirmed = NO_RECORDS;
    return taken;
  }

  /** Inserts a record by its time. Returns those that need not wait: up to `dueMs`, and the oldest of too many. */
  reorder(observation: ReceivedObservation, dueMs: number): ReceivedList {
    const records = [...this.#outOfOrder, observation];
    for (let at = records.length - 1; at > 0 && records[at - 1].timestampMs > observation.timestampMs; at--) {
      [records[at], records[at - 1]] = [records[at - 1], records[at]];
    }
    const first = records.findIndex(({ timestampMs }) => timestampMs > dueMs);
    const due = Math.max(first < 0 ? records.length : first, records.length - OUT_OF_ORDER_MAX);
    const over = fitting(records, due);
    this.#outOfOrder = over === records.length ? NO_RECORDS : records.slice(over);
    return records.slice(0, over);
  }

  takeOutOfOrder(): ReceivedList {
    const taken = this.#outOfOrder;
    this.#outOfOrder = NO_RECORDS;
    return taken;
  }

  awaitBackfill(): void {
    this.#forBackfill = [];
  }

  queue(observation: ReceivedObservation): void {
    this.#forBackfill!.push(observation);
  }

  /** The first of the queue was taken. */
  shift(): void {
    this.#forBackfill!.shift();
  }

  endBackfill(): void {
    this.#forBackfill = null;
  }

  /** What waits for the backfill waits for forecasts alone. */
  endBackfillAtOnce(): void {
    this.#forForecast = this.#forBackfill;
    this.#forBackfill = null;
  }

  get awaitsForecast(): boolean {
    return this.#forForecast !== null;
  }

  /** A forecast is due first, for `observation` or for what was taken before. */
  awaitForecast(observation: ReceivedObservation | null): void {
    this.#forForecast ??= [];
    if (observation !== null) this.#forForecast.push(observation);
  }

  endForecast(): ReceivedList {
    const taken = this.#forForecast ?? NO_RECORDS;
    this.#forForecast = null;
    return taken;
  }

  /** As another unit, whose records they are; without what waits for forecasts. */
  take({ unconfirmed, outOfOrder, forBackfill, steps }: WaitingArrivals): void {
    this.#unconfirmed = unconfirmed;
    this.#outOfOrder = outOfOrder;
    this.#forBackfill = forBackfill === null ? null : [...forBackfill];
    if (steps !== null) this.steps?.take(steps);
  }

  /** What was kept of a unit in a partition. */
  resume(
    kept: WaitingRecords,
    { group, partition }: { readonly group: string | null; readonly partition: number },
  ): void {
    const received = (records: readonly QueuedRecord[]) =>
      records.map((one) => ({ ...one, group, record: { ...one.record, partition } }));
    this.#unconfirmed = received(kept.unconfirmed);
    this.#outOfOrder = received(kept.outOfOrder);
    this.#forBackfill = kept.forBackfill && received(kept.forBackfill);
    this.steps?.resume(kept.steps);
  }

  relocate(moved: (observation: ReceivedObservation) => ReceivedObservation): void {
    this.#unconfirmed = this.#unconfirmed.map(moved);
    this.#outOfOrder = this.#outOfOrder.map(moved);
    this.#forBackfill = this.#forBackfill?.map(moved) ?? null;
  }
}

/** From which record on, `from` or later, they are few enough bytes for one record of the changelog. */
function fitting(records: ReceivedList, from: number): number {
  let bytes = 0;
  for (let at = records.length - 1; at >= from; at--) {
    bytes += bytesOf(records[at]);
    if (bytes > OUT_OF_ORDER_BYTES_MAX) return at + 1;
  }
  return from;
}

function bytesOf({ record }: ReceivedObservation): number {
  return (record.key?.length ?? 0) + (record.value?.length ?? 0);
}
