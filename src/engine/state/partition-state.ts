import { InputWatch } from '../../records/diagnostics/input-watch.ts';
import type { InputPlace } from '../../records/input-place.ts';
import { meanStepMs } from '../../time/frequency.ts';
import { detectorOf, isOutdated, type OutdatedState } from '../arrival/outdated-state.ts';
import { popIdle, reportSilent, type WatermarkMove } from '../arrival/overdue-units.ts';
import { silenceLimitOf, silenceMark } from '../arrival/silence-watch.ts';
import { TimestampGuard } from '../arrival/timestamp-guard.ts';
import type { Watermark } from '../arrival/watermark.ts';
import type { LoadedDetector } from '../unit/loaded-detector.ts';
import { nearerInstant, type ReceivedObservation, type RoutedObservation } from '../unit/received-observation.ts';
import type { Scorable } from '../unit/scorable.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import { isScorable, refuseValue } from '../unit/unusable-values.ts';
import type { Backfills } from './backfills.ts';
import { BlockedUnits } from './blocked-units.ts';
import { DetectorPauses } from './detector-pauses.ts';
import { PartitionUnits, type UnitPlaces, unitKeyOf } from './partition-units.ts';
import { RequestedForecasts } from './requested-forecasts.ts';
import { WorkerPace } from './worker-pace.ts';

interface Blocking {
  readonly blocked: BlockedUnits;
  readonly resume: () => Promise<void>;
  readonly sink: ScoreSink;
}

/**
 * Every series and group of one partition. It is deterministic: the same observations in the same order give the same
 * scores and state, however they are batched.
 */
export class PartitionState {
  readonly place: InputPlace;
  readonly #guard = new TimestampGuard(() => this.all.every);
  readonly all: PartitionUnits;
  /** Findings on the newest records that were committed. */
  readonly watch = new InputWatch();
  readonly pauses: DetectorPauses;
  readonly #forecasts = new RequestedForecasts();

  /**
   * @param unitsMax most series and groups; beyond it the longest idle are evicted
   * @param places is kept up to date with the series and groups of this partition
   * @param pace of backfills in the background
   */
  constructor(
    place: InputPlace,
    unitsMax: number,
    places: UnitPlaces = new Map(),
    pace = new WorkerPace(Number.POSITIVE_INFINITY),
  ) {
    this.place = place;
    this.all = new PartitionUnits({ place, unitsMax, places, guard: this.#guard, pace });
    this.pauses = new DetectorPauses(place, this.all, this.#guard);
  }

  get units(): ReadonlyMap<string, Scorable> {
    return this.all.units;
  }

  /** Open states that cannot be continued, until an observation of their series arrives. */
  get outdated(): ReadonlyMap<string, OutdatedState> {
    return this.all.outdated;
  }

  get backfills(): Backfills {
    return this.all.backfills;
  }

  /** Records of series that no detector watches, since the restore. */
  unknownRecords = 0;

  /**
   * Scores observations in input order. Forecasts that are due at the end are requested, but not awaited: usually they
   * are ready before the next observation of their series. Rejects when the model fails or `signal` aborts. Then the
   * state must be discarded.
   */
  async score(observations: readonly RoutedObservation[], sink: ScoreSink, signal: AbortSignal): Promise<void> {
    const touched = new Set<Scorable>();
    const blocking = this.#blocking(sink, signal);
    const touch = (unit: Scorable) => {
      touched.add(unit);
      sink.state.touched(this.backfills.entryOf(unit));
    };
    let current: Scorable;
    const dispatch = (unit: Scorable, observation: ReceivedObservation) => {
      // Another unit's record waited for the time of this one.
      if (unit !== current) touch(unit);
      this.#dispatch(unit, observation, blocking);
    };
    const outlets = { dispatch, sink };
    const succeed = (outdated: OutdatedState) => this.all.migrateUnseen(outdated, sink);
    const beginsPause = ({ loaded }: Scorable, offset: number) => this.#beginsPause(loaded, offset, blocking);
    const isInPause = (one: Scorable | OutdatedState) => this.pauses.covers(one);
    const { isRegistered } = this.all;
    const surroundings = { guard: this.#guard, isRegistered, touch, dispatch, succeed, isInPause, beginsPause };
    for (const received of observations) {
      const collision = this.all.claim(received, sink);
      if (collision !== null) {
        sink.outputs.deadLetter(received.record, collision);
        continue;
      }
      if (this.backfills.size > 0 && this.all.evicts(received)) await this.#takeOutIdle(blocking);
      const unit = this.all.of(received, sink);
      const observation = nearerInstant(received, unit);
      // Not yet in this batch. After a truncation of the input, offsets go back: then the newest one is not below.
      const { offset } = observation.record;
      if (unit.newestOffset < observations[0].record.offset || unit.newestOffset >= offset) touch(unit);
      unit.newestOffset = offset;
      current = unit;
      this.all.markSeen(unit, observation.record, sink);
      const beforeMs = this.watermark.ms;
      this.#guard.accept(unit, observation, outlets);
      if (this.pauses.hasReturned) this.pauses.endReturned({ offset, sink });
      const { silent, idle } = this.#guard;
      if (silent.isDue(this.watermark.ms)) await reportSilent({ offset, beforeMs, ...surroundings });
      if (idle.isDue(this.watermark.ms)) await this.#forgetIdle({ offset, beforeMs, ...surroundings }, blocking);
    }
    if (this.pauses.any) this.pauses.endAbandoned({ offset: observations.at(-1)?.record.offset ?? -1, sink });
    await blocking.resume();
    // A failure is thrown again by the next call that needs one of these forecasts.
    const units = [...touched].filter(({ waiting }) => waiting.forBackfill === null);
    this.#forecasts.supply(units, signal).catch(() => undefined);
  }

  #blocking(sink: ScoreSink, signal: AbortSignal): Blocking {
    const blocked = new BlockedUnits();
    const resume = async () => {
      if (blocked.any) await this.backfills.settled();
      await blocked.resume((units) => this.#forecasts.supply(units, signal), sink);
    };
    return { blocked, resume, sink };
  }

  /** Hands an observation to its unit, or lets it wait for the backfill of that; a point goes to its time step. */
  #dispatch(unit: Scorable, observation: ReceivedObservation, blocking: Blocking): void {
    const { waiting } = unit;
    const { steps } = waiting;
    if (observation.extras?.replica !== undefined) {
      const { freq } = unit.loaded.config.settings;
      if (!waiting.admitsReplica(observation, meanStepMs(freq))) {
        blocking.sink.counters.duplicate(unit.loaded, null);
        return;
      }
    }
    if (steps?.aggregates && observation.silence === undefined) {
      if (observation.points === undefined) {
        const { watermark, steps: watch } = this.#guard;
        for (const closed of watch.accept(unit, observation, { steps, watermark, sink: blocking.sink })) {
          this.#dispatch(unit, closed, blocking);
        }
        return;
      }
      if (!isScorable(observation.value)) {
        refuseValue(observation.value, observation, unit.loaded, blocking.sink);
        return;
      }
    }
    if (waiting.forBackfill === null) blocking.blocked.offer(unit, observation, blocking.sink);
    else if (!this.backfills.queue(unit, observation)) this.#takeOut(unit, blocking);
  }

  /** Before units are forgotten, what waits for their backfill is scored: as if it had not waited. */
  async #takeOutIdle(blocking: Blocking): Promise<void> {
    await blocking.resume();
    for (const one of this.all.longestIdle()) if (!isOutdated(one)) this.#takeOut(one, blocking);
    await blocking.resume();
  }

  #takeOut(unit: Scorable, { blocked, sink }: Blocking): void {
    if (unit.waiting.forBackfill === null) return;
    this.backfills.takeOut(unit, sink);
    blocked.add(unit);
  }

  /**
   * The input has ended. What waits for older records is scored, and so are time steps that wait for members of their
   * group, without these. Nothing can confirm a record any more that is held. Rejects as `score`.
   */
  async finish(sink: ScoreSink, signal: AbortSignal): Promise<void> {
    const blocking = this.#blocking(sink, signal);
    const dispatch = (unit: Scorable, observation: ReceivedObservation) => this.#dispatch(unit, observation, blocking);
    for (const unit of this.units.values()) {
      this.#guard.flush(unit, dispatch);
      this.#guard.refuseHeld(unit, sink);
    }
    await blocking.resume();
    for (const unit of this.units.values()) blocking.blocked.finish(unit, sink);
    await blocking.resume();
  }

  /** Scores waiting records of the series of a detector before it decides whether these are in a pause. */
  async #beginsPause(loaded: LoadedDetector, offset: number, blocking: Blocking): Promise<boolean> {
    if (!this.pauses.mayBegin(loaded)) return false;
    for (const one of this.all.ofDetector(loaded.config.name)) if (!isOutdated(one)) this.#takeOut(one, blocking);
    await blocking.resume();
    if (!this.pauses.begin(loaded, { offset, sink: blocking.sink })) return false;
    for (const one of this.all.ofDetector(loaded.config.name)) if (!isOutdated(one)) this.#flush(one, blocking);
    return true;
  }

  /** Scores what waits for older records. */
  #flush(unit: Scorable, blocking: Blocking): void {
    const { outOfOrder, steps } = unit.waiting;
    if (outOfOrder.length === 0 && (steps?.points ?? 0) === 0) return;
    blocking.sink.state.touched(this.backfills.entryOf(unit));
    this.#guard.flush(unit, (one, observation) => this.#dispatch(one, observation, blocking));
  }

  /** Scores waiting records of idle units before these are forgotten. */
  async #forgetIdle(move: WatermarkMove, blocking: Blocking): Promise<void> {
    const { blocked, resume, sink } = blocking;
    const idle = popIdle(move);
    for (const one of idle) if (!isOutdated(one)) this.#takeOut(one, blocking);
    for (const one of idle) if (!isOutdated(one)) this.#guard.flush(one, move.dispatch);
    await resume();
    for (const one of idle) if (!isOutdated(one)) blocked.finish(one, sink);
    await resume();
    const at = { timestampMs: this.watermark.ms, offset: move.offset, reason: 'idle' as const };
    for (const one of idle) this.all.forget(one, at, sink);
  }

  /**
   * No observation arrived at the partition for `quietMs` by the clock: what waits for older records is scored in units
   * whose records are due for so long, and these are silent, or in a pause where all of their detector are. Returns
   * after which time the next ones are, or null. Rejects as `score`.
   */
  async reportQuiet(
    quietMs: number,
    { offset, sink, signal }: { readonly offset: number; readonly sink: ScoreSink; readonly signal: AbortSignal },
  ): Promise<number | null> {
    const blocking = this.#blocking(sink, signal);
    const due: (Scorable | OutdatedState)[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    for (const one of this.all.every.filter(this.all.isRegistered)) {
      const dueMs = isSilenceReported(one) || this.pauses.covers(one) ? null : silenceLimitOf(one);
      if (dueMs === null) continue;
      if (dueMs > quietMs) nextMs = Math.min(nextMs, dueMs);
      else due.push(one);
    }
    // Steps stay open: a clock must not decide what is in them.
    for (const one of due) if (!isOutdated(one) && !one.waiting.steps?.aggregates) this.#flush(one, blocking);
    await blocking.resume();
    const stopped: Scorable[] = [];
    for (const [loaded, ones] of Map.groupBy(due, detectorOf)) {
      if (loaded !== null && this.pauses.begin(loaded, { offset, sink })) continue;
      for (const one of ones) {
        const unit = isOutdated(one) ? this.all.migrateUnseen(one, sink) : one;
        if (unit === null) continue;
        stopped.push(unit);
        this.#dispatch(unit, silenceMark(unit, { offset, cause: 'clock', watermarkMs: this.watermark.ms }), blocking);
      }
    }
    await blocking.resume();
    for (const unit of stopped)
      if (unit.silent || unit.group !== null) sink.state.touched(this.backfills.entryOf(unit));
    return Number.isFinite(nextMs) ? nextMs : null;
  }

  /** The event time of the partition, which is kept next to the units. */
  get watermark(): Watermark {
    return this.#guard.watermark;
  }

  /** Records so far that were the newest of their series, or group. */
  get advances(): number {
    return this.#guard.advances;
  }

  /** True if any forecast is on its way that is worth waiting for. */
  get awaitsForecasts(): boolean {
    return this.#forecasts.anyUnderWay;
  }

  /** Settles when the forecast is there that this observation would wait for; null: it waits for none. */
  forecastFor(observation: RoutedObservation): Promise<unknown> | null {
    const unit = this.units.get(unitKeyOf(observation));
    return unit === undefined ? null : this.#forecasts.underWay(unit);
  }

  /** Memory of its series. */
  get bytes(): number {
    return this.all.bytes;
  }
}

/** True if the silence of a unit was reported, or will be with its backfill. */
function isSilenceReported(one: Scorable | OutdatedState): boolean {
  if (isOutdated(one)) return false;
  const { outOfOrder, forBackfill } = one.waiting;
  return (one.silent && outOfOrder.length === 0) || forBackfill?.at(-1)?.silence !== undefined;
}
