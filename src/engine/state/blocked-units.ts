import type { ReceivedObservation } from '../unit/received-observation.ts';
import type { Scorable } from '../unit/scorable.ts';
import type { ScoreSink } from '../unit/score-sink.ts';

/** Units that wait for forecasts, with the observations that came meanwhile. */
export class BlockedUnits {
  #units: Scorable[] = [];

  /** Gives an observation to its unit, which may wait from now on. */
  offer(unit: Scorable, observation: ReceivedObservation, sink: ScoreSink): void {
    if (offer(unit, observation, sink)) this.#units.push(unit);
  }

  get any(): boolean {
    return this.#units.length > 0;
  }

  /** A unit with observations that wait already. */
  add(unit: Scorable): void {
    this.#units.push(unit);
  }

  /** No further observation is waited for. The unit may wait for forecasts of what it has. */
  finish(unit: Scorable, sink: ScoreSink): void {
    if (unit.settle(sink, true)) return;
    unit.waiting.awaitForecast(null);
    this.#units.push(unit);
  }

  /** Supplies forecasts until no unit waits for one. */
  async resume(supply: (units: readonly Scorable[]) => Promise<void>, sink: ScoreSink): Promise<void> {
    while (this.#units.length > 0) {
      await supply(this.#units);
      this.#units = this.#units.filter((unit) => resume(unit, sink));
    }
  }
}

/** Returns whether the unit became blocked: it waits for forecasts from now on. */
function offer(unit: Scorable, observation: ReceivedObservation, sink: ScoreSink): boolean {
  const { waiting } = unit;
  if (waiting.awaitsForecast) {
    waiting.awaitForecast(observation);
    return false;
  }
  if (!unit.ingest(observation, sink)) waiting.awaitForecast(observation);
  return waiting.awaitsForecast;
}

/** Continues after forecasts were supplied. Returns whether the unit is still blocked. */
function resume(unit: Scorable, sink: ScoreSink): boolean {
  if (!unit.settle(sink)) return true;
  for (const observation of unit.waiting.endForecast()) offer(unit, observation, sink);
  return unit.waiting.awaitsForecast;
}
