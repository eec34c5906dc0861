import { InputWatch } from '../../records/diagnostics/input-watch.ts';
import type { InputPlace } from '../../records/score-record.ts';
import type { Quiet } from '../arrival/detector-times.ts';
import type { OutdatedState } from '../arrival/outdated-state.ts';
import { nearerInstant, type RoutedObservation } from '../arrival/routed-observation.ts';
import { TimestampGuard } from '../arrival/timestamp-guard.ts';
import type { Watermark } from '../arrival/watermark.ts';
import type { Scorable } from '../unit/scorable.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import type { Backfills } from './backfills.ts';
import { DetectorPauses } from './detector-pauses.ts';
import { Dispatch } from './dispatch.ts';
import { OverdueUnits } from './overdue-units.ts';
import { type Outlet, PartitionUnits, type UnitPlaces, unitKeyOf } from './partition-units.ts';
import { type ForecastTurns, RequestedForecasts } from './requested-forecasts.ts';
import { WorkerPace } from './worker-pace.ts';

/**
 * Every series and group of one partition. It is deterministic: the same observations in the same order give the same
 * scores and state, however they are batched.
 */
export class PartitionState {
  readonly place: InputPlace;
  readonly #guard = new TimestampGuard(() => this.all.every);
  readonly all: PartitionUnits;
  /** Diagnostics on the newest records that were committed. */
  readonly watch = new InputWatch();
  readonly pauses: DetectorPauses;
  readonly #overdue: OverdueUnits;
  readonly #forecasts: RequestedForecasts;

  /**
   * @param unitsMax most series and groups; beyond it the longest idle are evicted
   * @param places is kept up to date with the series and groups of this partition
   * @param pace of backfills in the background
   * @param turns of forecasts that nothing waits for
   */
  constructor(
    place: InputPlace,
    unitsMax: number,
    places: UnitPlaces = new Map(),
    pace = new WorkerPace(Number.POSITIVE_INFINITY),
    turns?: ForecastTurns,
  ) {
    this.#forecasts = new RequestedForecasts(turns);
    this.place = place;
    this.all = new PartitionUnits({ place, unitsMax, places, guard: this.#guard, pace });
    this.pauses = new DetectorPauses(place, this.all, this.#guard);
    this.#overdue = new OverdueUnits(this.all, this.#guard, this.pauses);
  }

  get units(): ReadonlyMap<string, Scorable> {
    return this.all.units;
  }

  get outdated(): ReadonlyMap<string, OutdatedState> {
    return this.all.outdated;
  }

  get backfills(): Backfills {
    return this.all.backfills;
  }

  /** Records of series that no detector watches, since the restore. */
  unknownRecords = 0;

  /**
   * Scores observations in input order. Forecasts that are due at the end are supplied later: usually they are ready
   * before the next observation of their series. Rejects when the model fails or `signal` aborts. Then the state must
   * be discarded.
   */
  async score(observations: readonly RoutedObservation[], sink: ScoreSink, signal: AbortSignal): Promise<void> {
    const dispatch = this.#dispatch(sink, signal);
    for (const received of observations) {
      const collision = this.all.claim(received, sink);
      if (collision !== null) {
        sink.outputs.deadLetter(received.record, collision);
        continue;
      }
      const known = this.#unitOf(received);
      if (known === undefined && this.all.evicts(received)) await dispatch.drainIdle();
      const unit = known ?? this.all.of(received, sink);
      const observation = nearerInstant(received, unit);
      // Not yet in this batch. After a truncation of the input, offsets go back: then the newest one is not below.
      const { offset } = observation.record;
      if (unit.newestOffset < observations[0].record.offset || unit.newestOffset >= offset) dispatch.touch(unit);
      unit.newestOffset = offset;
      this.all.markSeen(unit, observation.record, sink);
      const beforeMs = this.watermark.ms;
      for (const ready of this.#guard.accept(unit, observation, sink)) {
        // Another unit's record waited for the time of this one.
        if (ready.unit !== unit) dispatch.touch(ready.unit);
        dispatch.give(ready);
        if (ready.unit !== unit) this.#guard.rewatch(ready.unit);
      }
      this.#guard.rewatch(unit);
      if (this.pauses.hasReturned) this.pauses.endReturned({ offset, sink });
      if (this.#overdue.mayBeDue) await this.#overdue.report({ offset, beforeMs }, dispatch);
    }
    if (this.pauses.any) this.pauses.endAbandoned({ offset: observations.at(-1)?.record.offset ?? -1, sink });
    await dispatch.resume();
    const units = [...dispatch.touched].filter(({ waiting }) => waiting.forBackfill === null);
    this.#forecasts.supplyLater(units, signal);
  }

  /** More observations wait: the model forecasts while they are scored. */
  requestForecasts(): void {
    this.#forecasts.requestNow();
  }

  #dispatch(sink: ScoreSink, signal: AbortSignal): Dispatch {
    return new Dispatch({ units: this.all, guard: this.#guard, forecasts: this.#forecasts, sink, signal });
  }

  /**
   * The input has ended. What waits for older records is scored, and so are time steps that wait for members of their
   * group, without these. Nothing can confirm a record any more that is held. Rejects as `score`.
   */
  async finish(sink: ScoreSink, signal: AbortSignal): Promise<void> {
    const dispatch = this.#dispatch(sink, signal);
    for (const unit of this.units.values()) {
      dispatch.flush(unit);
      this.#guard.refuseHeld(unit, sink);
    }
    await dispatch.resume();
    for (const unit of this.units.values()) dispatch.finish(unit);
    await dispatch.resume();
  }

  reportQuiet(quiet: Quiet, { offset, sink }: Outlet, signal: AbortSignal): Promise<number | null> {
    return this.#overdue.reportQuiet(quiet, offset, this.#dispatch(sink, signal));
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
    const unit = this.#unitOf(observation);
    return unit === undefined ? null : this.#forecasts.underWay(unit);
  }

  /** Without a look into the map, which misses the caches, if it was found there before. */
  #unitOf(observation: RoutedObservation): Scorable | undefined {
    const { unit, removals } = observation;
    return unit !== undefined && removals === this.all.removals ? unit : this.units.get(unitKeyOf(observation));
  }

  get bytes(): number {
    return this.all.bytes;
  }
}
