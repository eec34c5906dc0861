import { SeriesMemory } from '../../detector/series-memory.ts';
import { groupKey } from '../changelog/changelog-series.ts';
import type { StaleHead } from '../changelog/journal.ts';
import { closedWindowKeys } from '../changelog/series-state.ts';
import type { InputPlace } from '../record/score-record.ts';
import type { Arrival, ScoreSink } from './batch-outcome.ts';
import type { WatchedDetector } from './bound-detector.ts';
import type { WatchedUnit } from './detection-unit.ts';
import { GroupUnit } from './group-unit.ts';
import { SeriesUnit } from './series-unit.ts';
import { supplyForecasts } from './supply-forecasts.ts';

/** Of all series and groups, how many make room at a time when there are too many. */
const EVICTED_SHARE = 1 / 16;

/** On which partition each group lives, by its key, across the partitions of this process. */
export type GroupPlaces = Map<string, number>;

/**
 * Every series and group of one partition. Given the same arrivals in the same order it does the same, however they are batched.
 */
export class PartitionState {
  readonly place: InputPlace;
  readonly #unitsMax: number;
  readonly #groupPlaces: GroupPlaces;
  readonly #memories = new Map<WatchedDetector, SeriesMemory>();
  readonly units = new Map<string, WatchedUnit>();
  /** Heads made under other settings or another model, until their series comes again. */
  readonly stale = new Map<string, StaleHead>();
  /** Ends when every forecast asked for so far is there; one batch of them at a time waits for the model. */
  #forecasts: Promise<void> = Promise.resolve();

  /**
   * @param unitsMax series (and groups) held at a time; the longest idle are evicted
   * @param groupPlaces hears of every group that is held here
   */
  constructor(place: InputPlace, unitsMax: number, groupPlaces: GroupPlaces = new Map()) {
    this.place = place;
    this.#unitsMax = unitsMax;
    this.#groupPlaces = groupPlaces;
  }

  /**
   * Scores arrivals in their order. Forecasts that are due at the end are asked for, but not waited for: most often they are there
   * before the next observation of their series is. Rejects when the model fails or `signal` aborts; the state is to be thrown away then.
   */
  async score(
    arrivals: readonly (Arrival & { readonly watched: WatchedDetector })[],
    sink: ScoreSink,
    signal: AbortSignal,
  ): Promise<void> {
    const touched: WatchedUnit[] = [];
    let blocked: WatchedUnit[] = [];
    for (const arrival of arrivals) {
      const unit = this.#unitOf(arrival, arrival.watched, sink);
      if (unit.newestOffset < arrivals[0].record.offset) {
        touched.push(unit);
        sink.touched(unit);
      }
      unit.newestOffset = arrival.record.offset;
      offer(unit, arrival, sink, blocked);
    }
    while (blocked.length > 0) {
      await this.#supply(blocked, signal);
      const stillBlocked: WatchedUnit[] = [];
      for (const unit of blocked) goOn(unit, sink, stillBlocked);
      blocked = stillBlocked;
    }
    // Whoever needs one of them meets its failure too.
    this.#supply(touched, signal).catch(() => undefined);
  }

  /** Those asked for earlier come first: a unit that waits for one of them is not due any more in its turn. */
  #supply(units: readonly WatchedUnit[], signal: AbortSignal): Promise<void> {
    this.#forecasts = this.#forecasts.then(() => supplyForecasts(units, signal));
    return this.#forecasts;
  }

  createUnit(key: string, group: string | null, watched: WatchedDetector): WatchedUnit {
    const memory = this.#memoryOf(watched);
    const unit =
      group === null
        ? new SeriesUnit(key, watched, memory, this.place)
        : new GroupUnit(group, watched, memory, this.place);
    this.units.set(key, unit);
    if (group !== null) this.#groupPlaces.set(key, this.place.partition);
    return unit;
  }

  #unitOf(arrival: Arrival, watched: WatchedDetector, sink: ScoreSink): WatchedUnit {
    const { series, group } = arrival;
    const key = group === null ? series : groupKey(watched.config.name, group);
    const known = this.units.get(key);
    if (known !== undefined) return known;
    if (this.units.size >= this.#unitsMax) this.#evict(sink);
    const unit = this.createUnit(key, group, watched);
    const stale = this.stale.get(key);
    if (stale !== undefined) {
      this.stale.delete(key);
      sink.windowsGone(stale.windowKeys);
      sink.unitGone(stale);
      sink.restarted('settings-changed');
      unit.startOver('settings-changed');
    }
    return unit;
  }

  /**
   * Which ones go depends on input offsets, so that a repeated run evicts the same. Who waits for a forecast stays: it is among the newest,
   * and would not go in any case unless one batch names nearly as many series as there is room for.
   */
  #evict(sink: ScoreSink): void {
    const idle = [...this.units.values()]
      .filter((unit) => unit.waiting === null)
      .sort((a, b) => a.newestOffset - b.newestOffset)
      .slice(0, Math.max(1, Math.floor(this.#unitsMax * EVICTED_SHARE)));
    for (const unit of idle) {
      this.units.delete(unit.key);
      this.#groupPlaces.delete(unit.key);
      for (const track of unit.tracks()) sink.windowsGone(closedWindowKeys(track));
      sink.unitGone(unit);
      unit.release();
    }
  }

  #memoryOf(watched: WatchedDetector): SeriesMemory {
    let memory = this.#memories.get(watched);
    if (memory === undefined) {
      memory = new SeriesMemory(watched.layout);
      this.#memories.set(watched, memory);
    }
    return memory;
  }
}

function offer(unit: WatchedUnit, arrival: Arrival, sink: ScoreSink, blocked: WatchedUnit[]): void {
  if (unit.waiting !== null) {
    unit.waiting.push(arrival);
    return;
  }
  if (!unit.take(arrival, sink)) unit.waiting = [arrival];
  if (unit.waiting !== null) blocked.push(unit);
}

/** After its forecasts were supplied. */
function goOn(unit: WatchedUnit, sink: ScoreSink, blocked: WatchedUnit[]): void {
  const arrivals = unit.waiting ?? [];
  if (!unit.settle(sink)) {
    blocked.push(unit);
    return;
  }
  unit.waiting = null;
  for (const arrival of arrivals) offer(unit, arrival, sink, blocked);
}
