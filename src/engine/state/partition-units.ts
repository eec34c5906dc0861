import { type DeltaLogWrite, groupKey, KEY_SEPARATOR } from '../../checkpoint/delta-log.ts';
import { closedWindowKeys } from '../../checkpoint/series/series-state.ts';
import type { InputPlace } from '../../records/score-record.ts';
import { isOutdated, type OutdatedState } from '../arrival/outdated-state.ts';
import type { RoutedObservation } from '../arrival/routed-observation.ts';
import type { TimestampGuard } from '../arrival/timestamp-guard.ts';
import { ScoredGroup } from '../group/scored-group.ts';
import type { InputRecord } from '../log/log.ts';
import type { LoadedDetector } from '../unit/loaded-detector.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import type { Scorable } from '../unit/scorable.ts';
import type { DeadLetterCause, ForgottenReason, ScoreSink } from '../unit/score-sink.ts';
import { ScoredSeries } from '../unit/scored-series.ts';
import { isShortLived } from '../unit/silence.ts';
import { Backfills } from './backfills.ts';
import { DetectorContexts } from './detector-contexts.ts';
import { dropQueued, keepProfiles, keepsPast, migrateQueue, migrateUnit, queuedIn } from './migrate-unit.ts';
import { SeriesSources } from './series-sources.ts';
import type { WorkerPace } from './worker-pace.ts';

/** The share of the series and groups that is evicted at a time. */
const EVICTED_SHARE = 1 / 16;

/** Time, offset and reason at which a series or group is forgotten. */
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
  readonly guard: TimestampGuard;
  /** Pace of backfills in the background. */
  readonly pace: WorkerPace;
}

/** The series and groups of a partition: which there are, how they come and go. */
export class PartitionUnits {
  readonly #options: PartitionUnitsOptions;
  readonly #memories: DetectorContexts;
  readonly sources = new SeriesSources();
  readonly units = new Map<string, Scorable>();
  /** Units that were removed so far. */
  removals = 0;
  /** Open states that cannot be continued, until an observation of their series arrives. */
  readonly outdated = new Map<string, OutdatedState>();
  /** Series of which no record came since the partition was taken over. */
  readonly #notSeen = new Set<Scorable>();
  /** Units that begin with what an outdated state kept, each in its slot. */
  readonly backfills: Backfills;
  /** True if a unit, or a state that none continues so far, is there. */
  readonly isRegistered = (one: Scorable | OutdatedState) =>
    isOutdated(one)
      ? one.migrated === null && this.outdated.get(one.migratedKey) === one
      : this.units.get(one.key) === one;

  constructor(options: PartitionUnitsOptions) {
    this.#options = options;
    this.#memories = new DetectorContexts(options.place);
    this.backfills = new Backfills(options.pace, (outdated, unit, sink) => this.#replace(outdated, unit, sink));
  }

  /** All units, and all states that wait for one. */
  get every(): (Scorable | OutdatedState)[] {
    return [...this.units.values(), ...this.outdated.values()];
  }

  /** The units of a detector, and the states that it takes and has not continued so far. */
  *ofDetector(name: string): Generator<Scorable | OutdatedState> {
    for (const unit of this.units.values()) if (unit.loaded.config.name === name) yield unit;
    for (const outdated of this.outdated.values())
      if (outdated.newOwner?.config.name === name && this.isRegistered(outdated)) yield outdated;
  }

  /** After a restore: the units know what they hold. */
  adoptHeld(): void {
    for (const unit of this.units.values()) this.#options.guard.adopt(unit);
    for (const outdated of this.outdated.values()) {
      this.#options.guard.idle.watch(outdated);
      this.#options.guard.silent.watch(outdated);
    }
  }

  /** After a restore: how many units and outdated states have records that wait for a backfill. */
  get queued(): number {
    return this.every.filter((one) => ((isOutdated(one) ? one.previous : one)?.waiting.forBackfill ?? null) !== null)
      .length;
  }

  /** After a restore: records that wait for a backfill wait again. If no detector takes them, they are dead letters. */
  resumeBackfills(sink: ScoreSink): void {
    for (const unit of this.units.values()) {
      const { forBackfill } = unit.waiting;
      if (forBackfill !== null) this.backfills.add(unit, null, forBackfill);
    }
    for (const outdated of [...this.outdated.values()]) {
      const { previous, newOwner } = outdated;
      if (previous === null || queuedIn(previous).length + previous.waiting.all.length === 0) continue;
      if (newOwner === null) refuseQueued(outdated, sink);
      else this.migrateUnseen(outdated, sink);
    }
  }

  create(key: string, group: string | null, loaded: LoadedDetector): Scorable {
    const context = this.#memories.contextOf(loaded);
    const unit =
      group === null
        ? new ScoredSeries({ key, context, source: this.sources.sourceOf(key, key) })
        : new ScoredGroup({ key, context, group });
    this.units.set(key, unit);
    const { places, place } = this.#options;
    if (group !== null || !places.has(key)) places.set(key, place.partition);
    if (group === null) this.#notSeen.add(unit);
    return unit;
  }

  /** A record of a unit arrived. The first one since it was restored, or ever, is reported. */
  markSeen(unit: Scorable, record: InputRecord, sink: ScoreSink): void {
    if (this.#notSeen.size === 0 || !this.#notSeen.delete(unit)) return;
    const place = this.#options.places.get(unit.key) ?? record.partition;
    sink.lifecycle.firstSeen(unit.key, record, place === record.partition ? null : place);
  }

  /** Reason why an observation cannot be scored: another series has its id. Otherwise the id belongs to its series. */
  claim(observation: RoutedObservation, sink: ScoreSink): DeadLetterCause | null {
    return observation.source === undefined ? null : this.sources.claim(observation, unitKeyOf(observation), sink);
  }

  /** After a restore: what the changelog holds of series that are not there any more. */
  unownedSources(): DeltaLogWrite[] {
    const keys = this.sources.retain((key) => this.units.has(key) || this.outdated.has(key));
    return keys.map((key) => ({ key, value: null }));
  }

  of(observation: RoutedObservation, sink: ScoreSink): Scorable {
    const key = unitKeyOf(observation);
    const known = this.units.get(key);
    if (known !== undefined) return known;
    const outdated = this.outdated.get(key);
    if (outdated !== undefined) return this.#succeed(outdated, observation, sink);
    if (this.#isFull) this.#evict(observation, sink);
    return this.create(key, observation.group, observation.loaded);
  }

  /** True if no further unit fits. A state that a backfill continues counts once, although it is there twice. */
  get #isFull(): boolean {
    return this.units.size + this.outdated.size - this.backfills.continuing >= this.#options.unitsMax;
  }

  /** True if others are evicted to make room for an observation. */
  evicts(observation: RoutedObservation): boolean {
    const key = unitKeyOf(observation);
    return this.#isFull && !this.units.has(key) && !this.outdated.has(key);
  }

  /**
   * The unit that continues an outdated state without a record, where the state has what it needs. Null if there is
   * nothing to continue: the state stays, without what it held, until a record shows that its series is there.
   */
  migrateUnseen(outdated: OutdatedState, sink: ScoreSink): Scorable | null {
    const { previous, newOwner } = outdated;
    if (previous === null || newOwner === null) return null;
    const waits = queuedIn(previous).some(({ silence }) => silence === undefined);
    if (waits || keepsPast(previous, newOwner)) {
      return this.#succeed(outdated, { group: previous.group, loaded: newOwner }, sink);
    }
    const { all, forBackfill, steps } = previous.waiting;
    if (all.length > 0 || forBackfill !== null || (steps?.points ?? 0) > 0) {
      this.#giveUp(previous, sink);
      sink.state.touched(outdated);
    }
    return null;
  }

  /** The unit that begins instead of an outdated state, with a record or with those that wait. */
  #succeed(outdated: OutdatedState, to: Pick<RoutedObservation, 'group' | 'loaded'>, sink: ScoreSink): Scorable {
    const { previous } = outdated;
    const unit = this.create(outdated.migratedKey, to.group, to.loaded);
    unit.startOver(outdated.reason);
    const continues = previous !== null && migrateUnit(previous, unit);
    const queued = previous === null ? [] : queuedIn(previous);
    if (!continues) {
      if (previous !== null) {
        keepProfiles(previous, unit);
        this.#giveUp(previous, sink);
      }
      this.#replace(outdated, unit, sink);
      if (previous === null || queued.length === 0) return unit;
      migrateQueue(previous.newestOffset, queued, unit);
    }
    this.backfills.add(unit, continues ? outdated : null, queued);
    if (previous !== null) this.#options.guard.forget(previous);
    this.#options.guard.adopt(unit);
    return unit;
  }

  /** Makes dead letters of records that wait in it and were not handed on. */
  #giveUp(previous: ScoredSeries | ScoredGroup, sink: ScoreSink): void {
    dropQueued(previous);
    this.#options.guard.refuseHeld(previous, sink);
  }

  /**
   * A outdated state is no more, here and in the changelog: a unit has begun in its place. It is written in the same
   * commit, with the records that wait for it.
   */
  #replace(outdated: OutdatedState, unit: Scorable, sink: ScoreSink): void {
    this.outdated.delete(outdated.migratedKey);
    sink.state.windowsDeleted(outdated.windowKeys);
    sink.state.evicted(outdated);
    sink.state.touched(unit);
    sink.lifecycle.restarted(outdated.reason);
    if (outdated.previous !== null) this.#memories.releasePrevious(outdated.previous);
  }

  /** A unit of settings of the past, whose values are read; `group` is null for a series. */
  createPrevious(key: string, group: string | null, loaded: LoadedDetector): ScoredSeries | ScoredGroup {
    const options = { key, context: this.#memories.contextOfPrevious(loaded) };
    return group === null ? new ScoredSeries(options) : new ScoredGroup({ ...options, group });
  }

  /**
   * Evicts the units that were idle for longest by input offset, so that a repeated run evicts the same ones. None of
   * them may wait for a forecast.
   */
  #evict({ timestampMs, record }: ReceivedObservation, sink: ScoreSink): void {
    for (const one of this.longestIdle())
      this.forget(one, { timestampMs, offset: record.offset, reason: 'series-max' }, sink);
    this.#options.guard.forgetOthers(this.isRegistered);
  }

  longestIdle(): (Scorable | OutdatedState)[] {
    return this.every
      .filter((unit) => !isOutdated(unit) || unit.migrated === null)
      .sort((a, b) => a.newestOffset - b.newestOffset)
      .slice(0, Math.max(1, Math.floor(this.#options.unitsMax * EVICTED_SHARE)));
  }

  forget(one: Scorable | OutdatedState, at: ForgottenAt, sink: ScoreSink): void {
    sink.lifecycle.forgotten(at.reason);
    this.sources.forget(isOutdated(one) ? one.migratedKey : one.key, sink);
    if (isOutdated(one)) {
      this.#forgetOutdated(one, sink);
      return;
    }
    for (const { key, detector } of one.changelogSeries()) {
      if (isShortLived(detector)) sink.lifecycle.endedEarly(one.loaded, key.slice(key.lastIndexOf(KEY_SEPARATOR) + 1));
    }
    if (this.units.delete(one.key)) this.removals++;
    const { places, place } = this.#options;
    if (places.get(one.key) === place.partition) places.delete(one.key);
    this.#notSeen.delete(one);
    this.#options.guard.refuseHeld(one, sink);
    for (const series of one.changelogSeries()) sink.state.windowsDeleted(closedWindowKeys(series));
    one.events.close('evicted', at, sink);
    sink.state.evicted(one);
    one.release();
  }

  #forgetOutdated(outdated: OutdatedState, sink: ScoreSink): void {
    this.outdated.delete(outdated.migratedKey);
    sink.state.windowsDeleted(outdated.windowKeys);
    sink.state.evicted(outdated);
    if (outdated.previous === null) return;
    this.#options.guard.refuseHeld(outdated.previous, sink);
    this.#memories.releasePrevious(outdated.previous);
  }

  get bytes(): number {
    return this.#memories.bytes;
  }
}

/** Key of the unit that takes an observation. */
export function unitKeyOf({ series, group, loaded }: RoutedObservation): string {
  return group === null ? series : groupKey(loaded.config.name, group);
}

function refuseQueued(outdated: OutdatedState, sink: ScoreSink): void {
  const detail = 'its detector was removed while the record waited for a backfill';
  for (const { record, series, silence } of outdated.previous === null ? [] : queuedIn(outdated.previous)) {
    if (silence === undefined) sink.outputs.deadLetter(record, { reason: 'series-unknown', detail, series });
  }
  if (outdated.previous !== null) dropQueued(outdated.previous);
  sink.state.touched(outdated);
}
