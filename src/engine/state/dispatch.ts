import { meanStepMs } from '../../time/frequency.ts';
import { isOutdated } from '../arrival/outdated-state.ts';
import type { ReadyObservation } from '../arrival/step-watch.ts';
import type { TimestampGuard } from '../arrival/timestamp-guard.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import { isScorable, refuseValue } from '../unit/refused-observations.ts';
import type { Scorable } from '../unit/scorable.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import type { PartitionUnits } from './partition-units.ts';
import type { RequestedForecasts } from './requested-forecasts.ts';

interface DispatchOptions {
  readonly units: PartitionUnits;
  readonly guard: TimestampGuard;
  readonly forecasts: RequestedForecasts;
  readonly sink: ScoreSink;
  readonly signal: AbortSignal;
}

/** Hands observations of a batch to their units. One that waits for a forecast keeps those that come meanwhile. */
export class Dispatch {
  readonly #options: DispatchOptions;
  readonly sink: ScoreSink;
  /** Units whose state has changed. */
  readonly touched = new Set<Scorable>();
  #blocked: Scorable[] = [];

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.sink = options.sink;
  }

  touch(unit: Scorable): void {
    this.touched.add(unit);
    this.sink.state.touched(this.#options.units.backfills.entryOf(unit));
  }

  /** Gives an observation to its unit, or lets it wait for the backfill of that; a point goes to its time step. */
  give({ unit, observation }: ReadyObservation): void {
    const { sink } = this;
    const { waiting, loaded } = unit;
    const { steps } = waiting;
    if (observation.extras?.replica !== undefined) {
      if (!waiting.admitsReplica(observation, meanStepMs(loaded.config.settings.freq))) {
        sink.counters.duplicate(loaded, null);
        return;
      }
    }
    if (steps?.aggregates && observation.silence === undefined) {
      const { guard } = this.#options;
      if (observation.points === undefined) {
        const place = { steps, watermark: guard.watermark, sink };
        for (const closed of guard.steps.accept(unit, observation, place)) this.give({ unit, observation: closed });
        return;
      }
      if (!isScorable(observation.value)) {
        refuseValue(observation.value, observation, loaded, sink);
        return;
      }
    }
    if (waiting.forBackfill === null) this.#offer(unit, observation);
    else if (!this.#options.units.backfills.queue(unit, observation)) this.drainBackfill(unit);
  }

  /** Scores at once what waits for the backfill of a unit. */
  drainBackfill(unit: Scorable): void {
    if (unit.waiting.forBackfill === null) return;
    this.#options.units.backfills.drain(unit, this.sink);
    this.#blocked.push(unit);
  }

  /**
   * Before units are evicted, what waits for a forecast or for their backfill is scored, as if it had not waited: who
   * is evicted must not depend on where a batch ends.
   */
  async drainIdle(): Promise<void> {
    await this.resume();
    for (const one of this.#options.units.longestIdle()) if (!isOutdated(one)) this.drainBackfill(one);
    await this.resume();
  }

  /** Gives what waits for older records, or for the end of its step. */
  flush(unit: Scorable): void {
    for (const observation of this.#options.guard.flush(unit)) this.give({ unit, observation });
  }

  /** Does not wait for further observations. The unit may still wait for forecasts. */
  finish(unit: Scorable): void {
    if (unit.settle(this.sink, true)) return;
    unit.waiting.awaitForecast(null);
    this.#blocked.push(unit);
  }

  /** Supplies forecasts until no unit waits for one. */
  async resume(): Promise<void> {
    if (this.#blocked.length > 0) await this.#options.units.backfills.settled();
    while (this.#blocked.length > 0) {
      await this.#options.forecasts.supply(this.#blocked, this.#options.signal);
      const blocked = this.#blocked;
      this.#blocked = [];
      for (const unit of blocked) this.#resume(unit);
    }
  }

  #offer(unit: Scorable, observation: ReceivedObservation): void {
    const { waiting } = unit;
    if (waiting.awaitsForecast) {
      waiting.awaitForecast(observation);
      return;
    }
    if (!unit.ingest(observation, this.sink)) waiting.awaitForecast(observation);
    if (waiting.awaitsForecast) this.#blocked.push(unit);
  }

  /** Continues after forecasts were supplied. The unit may be blocked again. */
  #resume(unit: Scorable): void {
    if (!unit.settle(this.sink)) this.#blocked.push(unit);
    else for (const observation of unit.waiting.endForecast()) this.#offer(unit, observation);
  }
}
