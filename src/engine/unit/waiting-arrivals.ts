import {
  type ActiveReplicas,
  NO_RECORDS,
  type QueuedRecord,
  type WaitingRecords,
} from '../../checkpoint/arrival-state.ts';
import type { OpenSteps } from './open-steps.ts';
import type { ReceivedObservation } from './received-observation.ts';

/** Records of a unit whose time is not confirmed, and the bytes of each. What is beyond is refused at once. */
const UNCONFIRMED_MAX = 16;
const UNCONFIRMED_BYTES_MAX = 8_192;
/** Records of a unit that wait for older ones, and their bytes; the oldest of more of them does not wait. */
const OUT_OF_ORDER_MAX = 128;
const OUT_OF_ORDER_BYTES_MAX = 131_072;

/** A replica is away when its newest point is further back than so many of the distances of its points. */
const AWAY_SPACINGS = 1.5;
/** The distance follows shorter ones by this factor a point: one long distance does not make two replicas alternate. */
const SPACING_DECAY = 0.9;

type ReceivedList = readonly ReceivedObservation[];

/** Records of a unit that wait, by what they wait for. */
export interface HeldArrivals {
  readonly unconfirmed: ReceivedList;
  readonly outOfOrder: ReceivedList;
  readonly forBackfill: ReceivedObservation[] | null;
  readonly forForecast: ReceivedObservation[] | null;
}

const NOTHING_HELD: HeldArrivals = {
  unconfirmed: NO_RECORDS,
  outOfOrder: NO_RECORDS,
  forBackfill: null,
  forForecast: null,
};

export interface ArrivalOwner {
  /** Points of open steps, and of counters; null if the unit has neither. */
  readonly steps: OpenSteps | null;
  /** Replicas whose points count; null if no record names a replica. */
  replicas?: ActiveReplicas | null;
  /** null while nothing waits, as mostly. */
  heldArrivals: HeldArrivals | null;
}

/**
 * What the arrivals of a unit wait for: a view of what the unit holds, and kept by none. A record passes these places
 * in this order, and mostly waits at none:
 *
 *   unconfirmed    its time jumps ahead, until another record agrees with that
 *   out of order   records before it may still come (`allowed_lateness`)
 *   open step      instead of that, where points are aggregated: others of its time step may still come
 *   for backfill   the unit calibrates first on what it continues; null: it continues nothing
 *   for forecast   the unit needs a forecast of a position before it; null: it does not
 *
 * All but the last are part of its state: a forecast is awaited before a commit.
 */
export class WaitingArrivals implements WaitingRecords {
  readonly #owner: ArrivalOwner;

  constructor(owner: ArrivalOwner = { steps: null, heldArrivals: null }) {
    this.#owner = owner;
  }

  get steps(): OpenSteps | null {
    return this.#owner.steps;
  }

  get replicas(): ActiveReplicas | null {
    return this.#owner.replicas ?? null;
  }

  /** True if an observation is of the replica that counts. */
  admitsReplica(observation: ReceivedObservation, stepMs: number): boolean {
    const active = nextActiveReplicas(this.replicas, observation, stepMs);
    if (active !== null) this.#owner.replicas = active;
    return active !== null;
  }

  get #held(): HeldArrivals {
    return this.#owner.heldArrivals ?? NOTHING_HELD;
  }

  #hold(change: Partial<HeldArrivals>): void {
    const held = { ...this.#held, ...change };
    const { unconfirmed, outOfOrder, forBackfill, forForecast } = held;
    const isNothing = unconfirmed.length === 0 && outOfOrder.length === 0 && forBackfill === null;
    this.#owner.heldArrivals = isNothing && forForecast === null ? null : held;
  }

  /** In the order of their offsets. */
  get unconfirmed(): ReceivedList {
    return this.#held.unconfirmed;
  }

  /** By event time. */
  get outOfOrder(): ReceivedList {
    return this.#held.outOfOrder;
  }

  /** In the order in which they are accepted. */
  get forBackfill(): ReceivedList | null {
    return this.#held.forBackfill;
  }

  /** Those of the state, in the order of the places. */
  get all(): ReceivedList {
    const { forBackfill, outOfOrder, unconfirmed } = this.#held;
    return [...(forBackfill ?? []), ...outOfOrder, ...unconfirmed];
  }

  /** Returns false if the record may not wait for confirmation: so many do, or it is too large. */
  awaitConfirmation(observation: ReceivedObservation): boolean {
    const { unconfirmed } = this.#held;
    if (unconfirmed.length >= UNCONFIRMED_MAX || bytesOf(observation) > UNCONFIRMED_BYTES_MAX) return false;
    this.#hold({ unconfirmed: [...unconfirmed, observation] });
    return true;
  }

  /** Its time was confirmed, or refuted. */
  decided(observation: ReceivedObservation): void {
    this.#hold({ unconfirmed: this.#held.unconfirmed.filter((one) => one !== observation) });
  }

  drainUnconfirmed(): ReceivedList {
    const { unconfirmed } = this.#held;
    if (unconfirmed.length > 0) this.#hold({ unconfirmed: NO_RECORDS });
    return unconfirmed;
  }

  /** Inserts a record by its time. Returns those that need not wait: up to `dueMs`, and the oldest of too many. */
  reorder(observation: ReceivedObservation, dueMs: number): ReceivedList {
    const records = [...this.#held.outOfOrder, observation];
    for (let at = records.length - 1; at > 0 && records[at - 1].timestampMs > observation.timestampMs; at--) {
      [records[at], records[at - 1]] = [records[at - 1], records[at]];
    }
    const first = records.findIndex(({ timestampMs }) => timestampMs > dueMs);
    const due = Math.max(first < 0 ? records.length : first, records.length - OUT_OF_ORDER_MAX);
    const over = fitting(records, due);
    this.#hold({ outOfOrder: records.slice(over) });
    return records.slice(0, over);
  }

  drainOutOfOrder(): ReceivedList {
    const { outOfOrder } = this.#held;
    if (outOfOrder.length > 0) this.#hold({ outOfOrder: NO_RECORDS });
    return outOfOrder;
  }

  awaitBackfill(): void {
    this.#hold({ forBackfill: [] });
  }

  queue(observation: ReceivedObservation): void {
    this.#held.forBackfill!.push(observation);
  }

  /** The first of the queue was popped. */
  shift(): void {
    this.#held.forBackfill!.shift();
  }

  endBackfill(): void {
    this.#hold({ forBackfill: null });
  }

  /** Lets records that wait for the backfill wait for forecasts alone. */
  endBackfillAtOnce(): void {
    this.#hold({ forForecast: this.#held.forBackfill, forBackfill: null });
  }

  get awaitsForecast(): boolean {
    return this.#held.forForecast !== null;
  }

  /** A forecast is due first, for `observation` or for what was accepted before. */
  awaitForecast(observation: ReceivedObservation | null): void {
    if (this.#held.forForecast === null) this.#hold({ forForecast: [] });
    if (observation !== null) this.#held.forForecast!.push(observation);
  }

  endForecast(): ReceivedList {
    const drained = this.#held.forForecast ?? NO_RECORDS;
    this.#hold({ forForecast: null });
    return drained;
  }

  /** As another unit, whose records they are; without what waits for forecasts. */
  inherit({ unconfirmed, outOfOrder, forBackfill, steps, replicas }: WaitingArrivals): void {
    this.#owner.replicas = replicas;
    this.#hold({ unconfirmed, outOfOrder, forBackfill: forBackfill && [...forBackfill] });
    if (steps !== null) this.steps?.inherit(steps);
  }

  /** Takes up the kept records of a unit in a partition. */
  resume(
    kept: WaitingRecords,
    { group, partition }: { readonly group: string | null; readonly partition: number },
  ): void {
    const received = (records: readonly QueuedRecord[]) =>
      records.map((one) => ({ ...one, group, record: { ...one.record, partition } }));
    this.#hold({
      unconfirmed: received(kept.unconfirmed),
      outOfOrder: received(kept.outOfOrder),
      forBackfill: kept.forBackfill && received(kept.forBackfill),
    });
    this.steps?.resume(kept.steps);
    this.#owner.replicas = kept.replicas;
  }

  relocate(moved: (observation: ReceivedObservation) => ReceivedObservation): void {
    const { unconfirmed, outOfOrder, forBackfill } = this.#held;
    this.#hold({
      unconfirmed: unconfirmed.map(moved),
      outOfOrder: outOfOrder.map(moved),
      forBackfill: forBackfill?.map(moved) ?? null,
    });
  }
}

/**
 * Several replicas send the same series, and the points of one count at a time, by event time: those of another one
 * count once it is away, and from then on. null if a point is of one that does not count.
 * @param stepMs the longest distance, and the first one
 */
function nextActiveReplicas(
  active: ActiveReplicas | null,
  { series, group, timestampMs, extras }: ReceivedObservation,
  stepMs: number,
): ActiveReplicas | null {
  const key = group === null ? '' : series;
  const { replica = '' } = extras ?? {};
  const current = active?.get(key) ?? { replica, newestMs: timestampMs, spacingMs: stepMs };
  const apartMs = timestampMs - current.newestMs;
  if (current.replica !== replica && !(apartMs > AWAY_SPACINGS * current.spacingMs)) return null;
  const isOwn = current.replica === replica && apartMs > 0;
  const spacingMs = isOwn ? Math.min(stepMs, Math.max(apartMs, current.spacingMs * SPACING_DECAY)) : current.spacingMs;
  const next = { replica, newestMs: Math.max(timestampMs, current.newestMs), spacingMs };
  return (active ?? new Map()).set(key, next);
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
