import { groupKey, KEY_SEPARATOR } from '../../checkpoint/changelog-series.ts';
import type { JournalWrite } from '../../checkpoint/journal.ts';
import { closedWindowKeys } from '../../checkpoint/series-state.ts';
import type { InputPlace } from '../../records/input-place.ts';
import type { ArrivalGate } from '../arrival/arrival-gate.ts';
import { isStale, type StaleUnit } from '../arrival/stale-unit.ts';
import { GroupUnit } from '../group/group-unit.ts';
import type { InputRecord } from '../log/log.ts';
import type { BoundDetector } from '../unit/bound-detector.ts';
import type { DetectionUnit } from '../unit/detection-unit.ts';
import type { ReceivedObservation, RoutedObservation } from '../unit/received-observation.ts';
import type { DeadLetterCause, ForgottenReason, ScoreSink } from '../unit/score-sink.ts';
import { SeriesUnit } from '../unit/series-unit.ts';
import { isYoung } from '../unit/silence-records.ts';
import { Backfills } from './backfills.ts';
import { SeriesSources } from './series-sources.ts';
import { dropQueued, keepProfiles, keepsPast, queuedIn, takeOver, takeOverQueue } from './take-over.ts';
import { UnitMemories } from './unit-memories.ts';
import type { WorkerPace } from './worker-pace.ts';

/** The share of the series and groups that is evicted at a time. */
const EVICTED_SHARE = 1 / 16;

/** Where and why a series or group is forgotten. */
interface ForgottenAt {
  readonly timestampMs: number;
  readonly offset: number;
  readonly reason: ForgottenReason;
}

/** The offset of a record that something comes of, and where that goes. */
export interface Outlet {
  readonly offset: number;
  readonly sink: ScoreSink;
}

/** The first partition that had a series or group, by its key, across the partitions of this process. */
export type UnitPlaces = Map<string, number>;

interface PartitionUnitsOptions {
  readonly place: InputPlace;
  /** Most series and groups; beyond it the longest idle are evicted. */
  readonly unitsMax: number;
  /** Is kept up to date with the series and groups of this partition. */
  readonly places: UnitPlaces;
  readonly gate: ArrivalGate;
  /** Pace of backfills in the background. */
  readonly pace: WorkerPace;
}

/** The series and groups of a partition: which there are, how they come and go. */
export class PartitionUnits {
  readonly #options: PartitionUnitsOptions;
  readonly #memories: UnitMemories;
  readonly sources = new SeriesSources();
  readonly units = new Map<string, DetectionUnit>();
  /** Open states that cannot be continued, until an observation of their series arrives. */
  readonly stale = new Map<string, StaleUnit>();
  /** Series of which no record came since the partition was taken over. */
  readonly #unmet = new Set<DetectionUnit>();
  /** Units that begin with what a stale state kept, once they have their turn. */
  readonly backfills: Backfills;
  /** Whether a unit, or a state that none continues so far, is there. */
  readonly holds = (one: DetectionUnit | StaleUnit) =>
    isStale(one) ? this.stale.get(one.successorKey) === one && one.successor === null : this.units.get(one.key) === one;

  constructor(options: PartitionUnitsOptions) {
    this.#options = options;
    this.#memories = new UnitMemories(options.place);
    this.backfills = new Backfills(options.pace, (stale, unit, sink) => this.#replace(stale, unit, sink));
  }

  /** All units, and all states that wait for one. */
  get every(): (DetectionUnit | StaleUnit)[] {
    return [...this.units.values(), ...this.stale.values()];
  }

  /** The units of a detector, and the states that it takes and has not continued so far. */
  *ofDetector(name: string): Generator<DetectionUnit | StaleUnit> {
    for (const unit of this.units.values()) if (unit.bound.config.name === name) yield unit;
    for (const stale of this.stale.values()) if (stale.taker?.config.name === name && this.holds(stale)) yield stale;
  }

  /** After a restore: the units know what they hold. */
  adoptHeld(): void {
    for (const unit of this.units.values()) this.#options.gate.adopt(unit);
    for (const stale of this.stale.values()) {
      this.#options.gate.idle.watch(stale);
      this.#options.gate.silent.watch(stale);
    }
  }

  /** After a restore: how many units and stale states have records that wait for a backfill. */
  get queued(): number {
    return this.every.filter((one) => ((isStale(one) ? one.retired : one)?.waiting.forBackfill ?? null) !== null)
      .length;
  }

  /** After a restore: records that wait for a backfill wait again. Where nobody takes them, they are dead letters. */
  resumeBackfills(sink: ScoreSink): void {
    for (const unit of this.units.values()) {
      const { forBackfill } = unit.waiting;
      if (forBackfill !== null) this.backfills.add(unit, null, forBackfill);
    }
    for (const stale of [...this.stale.values()]) {
      const { retired, taker } = stale;
      // Records that wait elsewhere had met a successor, too, or are its first ones.
      if (retired === null || queuedIn(retired).length + retired.waiting.all.length === 0) continue;
      if (taker === null) refuseQueued(stale, sink);
      else this.succeedUnmet(stale, sink);
    }
  }

  create(key: string, group: string | null, bound: BoundDetector): DetectionUnit {
    const home = this.#memories.homeOf(bound);
    const unit =
      group === null
        ? new SeriesUnit({ key, home, source: this.sources.sourceOf(key, key) })
        : new GroupUnit({ key, home, group });
    this.units.set(key, unit);
    const { places, place } = this.#options;
    if (group !== null || !places.has(key)) places.set(key, place.partition);
    if (group === null) this.#unmet.add(unit);
    return unit;
  }

  /** A record of a unit arrived. The first one since it was restored, or ever, is reported. */
  meet(unit: DetectionUnit, record: InputRecord, sink: ScoreSink): void {
    if (this.#unmet.size === 0 || !this.#unmet.delete(unit)) return;
    const place = this.#options.places.get(unit.key) ?? record.partition;
    sink.lifecycle.firstSeen(unit.key, record, place === record.partition ? null : place);
  }

  /** Why an observation cannot be scored: another series has its id. Otherwise the id belongs to its series. */
  claim(observation: RoutedObservation, sink: ScoreSink): DeadLetterCause | null {
    return observation.source === undefined ? null : this.sources.claim(observation, unitKeyOf(observation), sink);
  }

  /** After a restore: what the changelog holds of series that are not there any more. */
  unownedSources(): JournalWrite[] {
    const keys = this.sources.retain((key) => this.units.has(key) || this.stale.has(key));
    return keys.map((key) => ({ key, value: null }));
  }

  /** The unit of an observation. */
  of(observation: RoutedObservation, sink: ScoreSink): DetectionUnit {
    const key = unitKeyOf(observation);
    const known = this.units.get(key);
    if (known !== undefined) return known;
    const stale = this.stale.get(key);
    if (stale !== undefined) return this.#succeed(stale, observation, sink);
    if (this.#isFull) this.#evict(observation, sink);
    return this.create(key, observation.group, observation.bound);
  }

  /** What a backfill continues is there twice until its turn. */
  get #isFull(): boolean {
    return this.units.size + this.stale.size - this.backfills.continuing >= this.#options.unitsMax;
  }

  /** Whether others are evicted to make room for an observation. */
  evicts(observation: RoutedObservation): boolean {
    const key = unitKeyOf(observation);
    return this.#isFull && !this.units.has(key) && !this.stale.has(key);
  }

  /**
   * The unit that continues a stale state without a record, where the state has what it needs. Null where there is
   * nothing to continue: the state stays, without what it held, until a record shows that its series is there.
   */
  succeedUnmet(stale: StaleUnit, sink: ScoreSink): DetectionUnit | null {
    const { retired, taker } = stale;
    if (retired === null || taker === null) return null;
    const waits = queuedIn(retired).some(({ silence }) => silence === undefined);
    if (waits || keepsPast(retired, taker)) {
      return this.#succeed(stale, { group: retired.group, bound: taker }, sink);
    }
    const { all, forBackfill, steps } = retired.waiting;
    if (all.length > 0 || forBackfill !== null || (steps?.points ?? 0) > 0) {
      this.#giveUp(retired, sink);
      sink.state.touched(stale);
    }
    return null;
  }

  /** The unit that begins instead of a stale state, with a record or with those that wait. */
  #succeed(stale: StaleUnit, to: Pick<RoutedObservation, 'group' | 'bound'>, sink: ScoreSink): DetectionUnit {
    const { retired } = stale;
    const unit = this.create(stale.successorKey, to.group, to.bound);
    unit.startOver(stale.reason);
    const continues = retired !== null && takeOver(retired, unit);
    const queued = retired === null ? [] : queuedIn(retired);
    if (!continues) {
      if (retired !== null) {
        keepProfiles(retired, unit);
        this.#giveUp(retired, sink);
      }
      this.#replace(stale, unit, sink);
      if (retired === null || queued.length === 0) return unit;
      takeOverQueue(retired.newestOffset, queued, unit);
    }
    this.backfills.add(unit, continues ? stale : null, queued);
    if (retired !== null) this.#options.gate.forget(retired);
    this.#options.gate.adopt(unit);
    return unit;
  }

  /** What waits in it and was not handed on becomes dead letters. */
  #giveUp(retired: SeriesUnit | GroupUnit, sink: ScoreSink): void {
    dropQueued(retired);
    this.#options.gate.refuseHeld(retired, sink);
  }

  /**
   * A stale state is no more, here and in the changelog: a unit has begun in its place. It is written in the same
   * commit, with the records that wait for it.
   */
  #replace(stale: StaleUnit, unit: DetectionUnit, sink: ScoreSink): void {
    this.stale.delete(stale.successorKey);
    sink.state.windowsDeleted(stale.windowKeys);
    sink.state.evicted(stale);
    sink.state.touched(unit);
    sink.lifecycle.restarted(stale.reason);
    if (stale.retired !== null) this.#memories.releaseRetired(stale.retired);
  }

  /** A unit of settings of the past, whose values are read; `group` is null for a series. */
  createRetired(key: string, group: string | null, bound: BoundDetector): SeriesUnit | GroupUnit {
    const options = { key, home: this.#memories.homeOfRetired(bound) };
    return group === null ? new SeriesUnit(options) : new GroupUnit({ ...options, group });
  }

  /**
   * Evicts the units that were idle for longest by input offset, so that a repeated run evicts the same ones. A unit
   * that waits for a forecast stays. It is among the newest, unless one batch has nearly as many series as `unitsMax`.
   */
  #evict({ timestampMs, record }: ReceivedObservation, sink: ScoreSink): void {
    for (const one of this.longestIdle())
      this.forget(one, { timestampMs, offset: record.offset, reason: 'series-max' }, sink);
    this.#options.gate.forgetOthers(this.holds);
  }

  longestIdle(): (DetectionUnit | StaleUnit)[] {
    return this.every
      .filter((unit) => (isStale(unit) ? unit.successor === null : !unit.waiting.awaitsForecast))
      .sort((a, b) => a.newestOffset - b.newestOffset)
      .slice(0, Math.max(1, Math.floor(this.#options.unitsMax * EVICTED_SHARE)));
  }

  forget(one: DetectionUnit | StaleUnit, at: ForgottenAt, sink: ScoreSink): void {
    sink.lifecycle.forgotten(at.reason);
    this.sources.forget(isStale(one) ? one.successorKey : one.key, sink);
    if (isStale(one)) {
      this.#forgetStale(one, sink);
      return;
    }
    for (const { key, detector } of one.changelogSeries()) {
      if (isYoung(detector)) sink.lifecycle.endedYoung(one.bound, key.slice(key.lastIndexOf(KEY_SEPARATOR) + 1));
    }
    this.units.delete(one.key);
    const { places, place } = this.#options;
    if (places.get(one.key) === place.partition) places.delete(one.key);
    this.#unmet.delete(one);
    this.#options.gate.refuseHeld(one, sink);
    for (const series of one.changelogSeries()) sink.state.windowsDeleted(closedWindowKeys(series));
    one.events.close('evicted', at, sink);
    sink.state.evicted(one);
    one.release();
  }

  #forgetStale(stale: StaleUnit, sink: ScoreSink): void {
    this.stale.delete(stale.successorKey);
    sink.state.windowsDeleted(stale.windowKeys);
    sink.state.evicted(stale);
    if (stale.retired === null) return;
    this.#options.gate.refuseHeld(stale.retired, sink);
    this.#memories.releaseRetired(stale.retired);
  }

  /** Memory of its series. */
  get bytes(): number {
    return this.#memories.bytes;
  }
}

/** Key of the unit that takes an observation. */
export function unitKeyOf({ series, group, bound }: RoutedObservation): string {
  return group === null ? series : groupKey(bound.config.name, group);
}

function refuseQueued(stale: StaleUnit, sink: ScoreSink): void {
  const detail = 'its detector was removed while the record waited for a backfill';
  for (const { record, series, silence } of stale.retired === null ? [] : queuedIn(stale.retired)) {
    if (silence === undefined) sink.outputs.deadLetter(record, { reason: 'series-unknown', detail, series });
  }
  if (stale.retired !== null) dropQueued(stale.retired);
  sink.state.touched(stale);
}
