import { groupKey } from '../changelog/changelog-series.ts';
import { closedWindowKeys } from '../changelog/series-state.ts';
import type { InputRecord } from '../log/log.ts';
import type { InputPlace } from '../record/score-record.ts';
import { ArrivalGate, type GiveObservation } from './arrival-gate.ts';
import type { ForgottenReason, ReceivedObservation, ScoreSink } from './batch-outcome.ts';
import { BlockedUnits } from './blocked-units.ts';
import type { BoundDetector } from './bound-detector.ts';
import type { DetectionUnit } from './detection-unit.ts';
import type { EventClock } from './event-clock.ts';
import { GroupUnit } from './group-unit.ts';
import { isStale } from './idle-limit.ts';
import { type ClockMove, saySilent, takeIdle } from './overdue-units.ts';
import { SeriesUnit } from './series-unit.ts';
import { silenceMark, silenceMs } from './silence-watch.ts';
import type { StaleUnit } from './stale-unit.ts';
import { supplyForecasts } from './supply-forecasts.ts';
import { takeOver } from './take-over.ts';
import { UnitMemories } from './unit-memories.ts';

/** The share of the series and groups that is evicted at a time. */
const EVICTED_SHARE = 1 / 16;

/** Where and why a series or group is forgotten. */
interface ForgottenAt {
  readonly timestampMs: number;
  readonly offset: number;
  readonly reason: ForgottenReason;
}

interface Blocking {
  readonly blocked: BlockedUnits;
  readonly resume: () => Promise<void>;
  readonly sink: ScoreSink;
}

/** The first partition that had a series or group, by its key, across the partitions of this process. */
export type UnitPlaces = Map<string, number>;

/**
 * Every series and group of one partition. It is deterministic: the same observations in the same order give the same
 * scores and state, however they are batched.
 */
export class PartitionState {
  readonly place: InputPlace;
  readonly #unitsMax: number;
  readonly #places: UnitPlaces;
  readonly #memories = new UnitMemories();
  readonly units = new Map<string, DetectionUnit>();
  /** Open states that cannot be continued, until an observation of their series arrives. */
  readonly stale = new Map<string, StaleUnit>();
  /** Series of which no record came since the partition was taken over. */
  readonly #unmet = new Set<DetectionUnit>();
  readonly #gate = new ArrivalGate();
  readonly #holds = (one: DetectionUnit | StaleUnit) =>
    (isStale(one) ? this.stale.get(one.successorKey) : this.units.get(one.key)) === one;
  /** Settles with the last batch of forecasts. One batch at a time waits for the model. */
  #forecasts: Promise<void> = Promise.resolve();

  /**
   * @param unitsMax most series and groups; beyond it the longest idle are evicted
   * @param places is kept up to date with the series and groups of this partition
   */
  constructor(place: InputPlace, unitsMax: number, places: UnitPlaces = new Map()) {
    this.place = place;
    this.#unitsMax = unitsMax;
    this.#places = places;
  }

  /**
   * Scores observations in input order. Forecasts that are due at the end are requested, but not awaited: usually they
   * are ready before the next observation of their series. Rejects when the model fails or `signal` aborts. Then the
   * state must be discarded.
   */
  async score(
    observations: readonly (ReceivedObservation & { readonly bound: BoundDetector })[],
    sink: ScoreSink,
    signal: AbortSignal,
    { isLast = false }: { readonly isLast?: boolean } = {},
  ): Promise<void> {
    const touched = new Set<DetectionUnit>();
    const blocked = new BlockedUnits();
    const resume = () => blocked.resume((units) => this.#supply(units, signal), sink);
    const touch = (unit: DetectionUnit) => {
      touched.add(unit);
      sink.touched(unit);
    };
    let current: DetectionUnit;
    const give = (unit: DetectionUnit, observation: ReceivedObservation) => {
      // Another unit's record waited for the time of this one.
      if (unit !== current) touch(unit);
      blocked.offer(unit, observation, sink);
    };
    const outlets = { give, sink };
    const surroundings = { gate: this.#gate, holds: this.#holds, touch, give };
    const blocking: Blocking = { blocked, resume, sink };
    for (const observation of observations) {
      const unit = this.#unitOf(observation, observation.bound, sink);
      // Not yet in this batch. After a truncation of the input, offsets go back: then the newest one is not below.
      const { offset } = observation.record;
      if (unit.newestOffset < observations[0].record.offset || unit.newestOffset >= offset) touch(unit);
      unit.newestOffset = offset;
      current = unit;
      if (this.#unmet.size > 0 && this.#unmet.delete(unit)) this.#meet(unit, observation.record, sink);
      const beforeMs = this.clock.ms;
      this.#gate.admit(unit, observation, outlets);
      const { silent, idle } = this.#gate;
      if (silent.isDue(this.clock.ms)) saySilent({ offset, beforeMs, ...surroundings });
      if (idle.isDue(this.clock.ms)) await this.#forgetIdle({ offset, beforeMs, ...surroundings }, blocking);
    }
    if (isLast) this.#flush(give, sink);
    await resume();
    // A failure is thrown again by the next call that needs one of these forecasts.
    this.#supply([...touched], signal).catch(() => undefined);
  }

  /** Time steps of groups that wait for members are scored without them: no further observation comes. */
  async finish(sink: ScoreSink, signal: AbortSignal): Promise<void> {
    const blocked = new BlockedUnits();
    for (const unit of this.units.values()) blocked.finish(unit, sink);
    await blocked.resume((units) => this.#supply(units, signal), sink);
  }

  /** What idle units had is scored before they are forgotten. */
  async #forgetIdle(move: ClockMove, { blocked, resume, sink }: Blocking): Promise<void> {
    const idle = takeIdle(move);
    for (const one of idle) if (!isStale(one)) this.#gate.flush(one, move.give);
    await resume();
    for (const one of idle) if (!isStale(one)) blocked.finish(one, sink);
    await resume();
    const at: ForgottenAt = { timestampMs: this.clock.ms, offset: move.offset, reason: 'idle' };
    for (const one of idle) this.#forget(one, at, sink);
  }

  /**
   * No observation arrived at the partition for `quietMs` by the clock: its units are silent whose records are due for
   * so long, and what they had is scored. Returns after which time the next ones are, or null. Rejects as `score`.
   */
  async sayQuiet(
    quietMs: number,
    { offset, sink, signal }: { readonly offset: number; readonly sink: ScoreSink; readonly signal: AbortSignal },
  ): Promise<number | null> {
    const blocked = new BlockedUnits();
    const give = (unit: DetectionUnit, observation: ReceivedObservation) => blocked.offer(unit, observation, sink);
    const due: DetectionUnit[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    for (const unit of this.units.values()) {
      const isSaid = unit.silent && unit.buffered.length === 0;
      const dueMs = isSaid ? null : silenceMs(unit.bound.config.settings);
      if (dueMs === null) continue;
      if (dueMs > quietMs) nextMs = Math.min(nextMs, dueMs);
      else due.push(unit);
    }
    for (const unit of due) {
      if (unit.buffered.length > 0) sink.touched(unit);
      this.#gate.flush(unit, give);
      give(unit, silenceMark(unit, { offset, cause: 'clock' }));
    }
    await blocked.resume((units) => this.#supply(units, signal), sink);
    for (const unit of due) if (unit.silent) sink.touched(unit);
    return Number.isFinite(nextMs) ? nextMs : null;
  }

  /** The event time of the partition, which is kept beside the units. */
  get clock(): EventClock {
    return this.#gate.clock;
  }

  /** Records so far that were the newest of their series, or group. */
  get advances(): number {
    return this.#gate.advances;
  }

  /** After a restore: the units know what they hold. */
  adoptHeld(): void {
    for (const unit of this.units.values()) this.#gate.adopt(unit);
    for (const stale of this.stale.values()) this.#gate.idle.watch(stale);
  }

  /** The input has ended: no older record is waited for, and no further one can confirm those that are held. */
  #flush(give: GiveObservation, sink: ScoreSink): void {
    for (const unit of this.units.values()) {
      this.#gate.flush(unit, give);
      this.#gate.refuseHeld(unit, sink);
    }
  }

  /** Earlier requests come first. Their units are not due any more in later ones. */
  #supply(units: readonly DetectionUnit[], signal: AbortSignal): Promise<void> {
    this.#forecasts = this.#forecasts.then(() => supplyForecasts(units, signal));
    return this.#forecasts;
  }

  createUnit(key: string, group: string | null, bound: BoundDetector): DetectionUnit {
    const memory = this.#memories.of(bound);
    const unit =
      group === null
        ? new SeriesUnit({ key, bound, memory, place: this.place })
        : new GroupUnit({ key, group, bound, memory, place: this.place });
    this.units.set(key, unit);
    if (group !== null || !this.#places.has(key)) this.#places.set(key, this.place.partition);
    if (group === null) this.#unmet.add(unit);
    return unit;
  }

  /** The first record of a series since it was restored, or ever. */
  #meet(unit: DetectionUnit, record: InputRecord, sink: ScoreSink): void {
    const place = this.#places.get(unit.key) ?? record.partition;
    sink.met(unit.key, record, place === record.partition ? null : place);
  }

  #unitOf(observation: ReceivedObservation, bound: BoundDetector, sink: ScoreSink): DetectionUnit {
    const { series, group } = observation;
    const key = group === null ? series : groupKey(bound.config.name, group);
    const known = this.units.get(key);
    if (known !== undefined) return known;
    const stale = this.stale.get(key);
    if (stale === undefined && this.units.size + this.stale.size >= this.#unitsMax) this.#evict(observation, sink);
    const unit = this.createUnit(key, group, bound);
    if (stale === undefined) return unit;
    this.stale.delete(key);
    sink.windowsDeleted(stale.windowKeys);
    sink.evicted(stale);
    sink.restarted(stale.reason);
    unit.startOver(stale.reason);
    if (stale.retired !== null) {
      if (takeOver(stale.retired, unit, observation.record.offset)) {
        this.#gate.forget(stale.retired);
        this.#gate.adopt(unit);
      }
      this.#memories.releaseRetired(stale.retired);
    }
    return unit;
  }

  /** A unit of settings of the past, whose values are read; `group` is null for a series. */
  createRetired(key: string, group: string | null, bound: BoundDetector): SeriesUnit | GroupUnit {
    const options = { key, bound, memory: this.#memories.ofRetired(bound), place: this.place };
    return group === null ? new SeriesUnit(options) : new GroupUnit({ ...options, group });
  }

  /**
   * Evicts the units that were idle for longest by input offset, so that a repeated run evicts the same ones. A unit
   * that waits for a forecast stays. It is among the newest, unless one batch has nearly as many series as `unitsMax`.
   */
  #evict({ timestampMs, record }: ReceivedObservation, sink: ScoreSink): void {
    const idle = [...this.units.values(), ...this.stale.values()]
      .filter((unit) => isStale(unit) || unit.waiting === null)
      .sort((a, b) => a.newestOffset - b.newestOffset)
      .slice(0, Math.max(1, Math.floor(this.#unitsMax * EVICTED_SHARE)));
    for (const one of idle) this.#forget(one, { timestampMs, offset: record.offset, reason: 'series-max' }, sink);
    this.#gate.forgetOthers(this.#holds);
  }

  #forget(one: DetectionUnit | StaleUnit, at: ForgottenAt, sink: ScoreSink): void {
    sink.forgotten(at.reason);
    if (isStale(one)) {
      this.#forgetStale(one, sink);
      return;
    }
    this.units.delete(one.key);
    if (this.#places.get(one.key) === this.place.partition) this.#places.delete(one.key);
    this.#unmet.delete(one);
    this.#gate.refuseHeld(one, sink);
    for (const series of one.changelogSeries()) sink.windowsDeleted(closedWindowKeys(series));
    one.events.close('evicted', at, sink);
    sink.evicted(one);
    one.release();
  }

  #forgetStale(stale: StaleUnit, sink: ScoreSink): void {
    this.stale.delete(stale.successorKey);
    sink.windowsDeleted(stale.windowKeys);
    sink.evicted(stale);
    if (stale.retired === null) return;
    this.#gate.refuseHeld(stale.retired, sink);
    this.#memories.releaseRetired(stale.retired);
  }

  /** Memory of its series. */
  get bytes(): number {
    return this.#memories.bytes;
  }
}
