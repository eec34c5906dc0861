import type { SeriesDetector } from '../../detection/series/series-detector.ts';
import type { Scorable } from '../unit/scorable.ts';
import { type DueForecasts, dueForecasts, supplyBatch } from './supply-forecasts.ts';

/** Most contexts of a partition that wait for the model at a time. Bounds their memory and the queue of the model. */
export const FORECAST_ROWS_MAX = 1_024;
/** Rows of one request: a full run at context 512. Those of a longer one would wait for its last run. */
export const REQUEST_ROWS_MAX = 32;

/** Longest time that forecasts wait for their turn. */
const TURN_MS_MAX = 250;

/**
 * When forecasts are requested that nothing waits for so far: those of all partitions of a worker together. A row of a
 * short run takes the model up to 2.4 times as long as one of a full run.
 */
export class ForecastTurns {
  readonly #everyMs: number;
  #waiting = new Set<() => void>();

  /** @param everyMs 0: each request is made at once */
  constructor(everyMs: number) {
    this.#everyMs = Math.min(everyMs, TURN_MS_MAX);
  }

  /** Calls it at the end of the turn that has begun, or begins now; once, however often it was passed. */
  await(request: () => void): void {
    if (this.#everyMs === 0) {
      request();
      return;
    }
    if (this.#waiting.size === 0) setTimeout(() => this.#end(), this.#everyMs);
    this.#waiting.add(request);
  }

  #end(): void {
    const requests = this.#waiting;
    this.#waiting = new Set();
    for (const request of requests) request();
  }
}

/**
 * The forecasts of a partition that are on their way. Each is requested once: as soon as it is awaited, or in its turn.
 * Its consumer waits only for its own run, not for those that were requested before, unless they are more than
 * FORECAST_ROWS_MAX.
 */
export class RequestedForecasts {
  readonly #turns: ForecastTurns;
  /** Units whose forecasts wait for their turn, and the request of these. */
  #later: { readonly units: Set<Scorable>; readonly request: () => void } | null = null;
  /** Promises that settle with the forecast of a detector. One that has failed stays. */
  readonly #requests = new Map<SeriesDetector, Promise<void>>();
  /** Rows that the model has. */
  #rows = 0;
  /** Requests that wait for room, in their order. */
  #waiting: { readonly rows: number; readonly enter: () => void }[] = [];
  #hasFailed = false;

  constructor(turns = new ForecastTurns(0)) {
    this.#turns = turns;
  }

  /** Supplies forecasts that nothing waits for so far. A failure is thrown by the next call that needs one of them. */
  supplyLater(units: readonly Scorable[], signal: AbortSignal): void {
    const due = units.filter((unit) => unit.forecastsDue().length > 0);
    if (due.length === 0) return;
    this.#later ??= { units: new Set(), request: () => this.#requestDue(this.#takeLater(), signal) };
    for (const unit of due) this.#later.units.add(unit);
    if (this.#later.units.size < REQUEST_ROWS_MAX) this.#turns.await(this.#later.request);
    else this.requestNow();
  }

  /** Requests what waits for its turn. */
  requestNow(): void {
    this.#later?.request();
  }

  #takeLater(): readonly Scorable[] {
    const units = [...(this.#later?.units ?? [])];
    this.#later = null;
    return units;
  }

  #requestDue(units: readonly Scorable[], signal: AbortSignal): void {
    const batches = dueForecasts(units, { rowsMax: REQUEST_ROWS_MAX, except: this.#requests });
    for (const batch of batches) this.#request(batch, signal);
  }

  /**
   * Supplies forecasts to every detector of `units` that waits for one. Rejects when the model fails or `signal`
   * aborts, also where it did so in an earlier call: then the state must be discarded.
   */
  async supply(units: readonly Scorable[], signal: AbortSignal): Promise<void> {
    this.requestNow();
    this.#requestDue(units, signal);
    const requests = new Set(units.flatMap((unit) => this.#of(unit)));
    await Promise.all(requests);
  }

  /** After a failure nothing is worth waiting for. */
  get anyUnderWay(): boolean {
    return !this.#hasFailed && (this.#requests.size > 0 || this.#later !== null);
  }

  /** Settles when the forecasts are there that a unit waits for; null: there are none. Then it is their turn. */
  underWay(unit: Scorable): Promise<unknown> | null {
    if (!this.anyUnderWay) return null;
    if (this.#later !== null && unit.forecastsDue().some((each) => !this.#requests.has(each))) this.requestNow();
    const requests = this.#of(unit);
    return requests.length === 0 ? null : Promise.all(requests);
  }

  #of(unit: Scorable): Promise<void>[] {
    return unit.forecastsDue().flatMap((detector) => this.#requests.get(detector) ?? []);
  }

  #request(batch: DueForecasts, signal: AbortSignal): void {
    const { detectors } = batch;
    const rows = detectors.length;
    const supply = () => supplyBatch(batch, signal);
    const request = (this.#enter(rows)?.then(supply) ?? supply())
      .then(() => {
        for (const detector of detectors) this.#requests.delete(detector);
      })
      .finally(() => this.#leave(rows));
    for (const detector of detectors) this.#requests.set(detector, request);
    // It is thrown by the next call that needs one of these forecasts.
    request.catch(() => {
      this.#hasFailed = true;
    });
  }

  /** null if there is room; otherwise what settles when there is. */
  #enter(rows: number): Promise<void> | null {
    if (this.#waiting.length === 0 && this.#fits(rows)) {
      this.#rows += rows;
      return null;
    }
    return new Promise((enter) => this.#waiting.push({ rows, enter }));
  }

  #leave(rows: number): void {
    this.#rows -= rows;
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.rows); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#rows += next.rows;
      next.enter();
    }
  }

  #fits(rows: number): boolean {
    return this.#rows + rows <= FORECAST_ROWS_MAX;
  }
}
