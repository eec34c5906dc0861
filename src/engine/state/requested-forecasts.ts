import type { SeriesDetector } from '../../detection/series/series-detector.ts';
import type { Scorable } from '../unit/scorable.ts';
import { type DueForecasts, dueForecasts, supplyBatch } from './supply-forecasts.ts';

/** Most contexts of a partition that wait for the model at a time. Bounds their memory and the queue of the model. */
export const FORECAST_ROWS_MAX = 1_024;
/** Rows of one request: a full run at context 512. Those of a longer one would wait for its last run. */
export const REQUEST_ROWS_MAX = 32;

/**
 * The forecasts of a partition that are on their way. Each is requested once, as soon as it is due, and its consumer
 * waits only for its own run, not for those that were requested before, unless they are more than FORECAST_ROWS_MAX.
 */
export class RequestedForecasts {
  /** Promises that settle with the forecast of a detector. One that has failed stays. */
  readonly #requests = new Map<SeriesDetector, Promise<void>>();
  /** Rows that the model has. */
  #rows = 0;
  /** Requests that wait for room, in their order. */
  #waiting: { readonly rows: number; readonly enter: () => void }[] = [];
  #hasFailed = false;

  /**
   * Supplies forecasts to every detector of `units` that waits for one. Rejects when the model fails or `signal`
   * aborts, also where it did so in an earlier call: then the state must be discarded.
   */
  async supply(units: readonly Scorable[], signal: AbortSignal): Promise<void> {
    const batches = dueForecasts(units, { rowsMax: REQUEST_ROWS_MAX, except: this.#requests });
    for (const batch of batches) this.#request(batch, signal);
    const requests = new Set(units.flatMap((unit) => this.#of(unit)));
    await Promise.all(requests);
  }

  /** After a failure nothing is worth waiting for. */
  get anyUnderWay(): boolean {
    return !this.#hasFailed && this.#requests.size > 0;
  }

  /** Settles when the forecasts are there that a unit waits for and that were requested; null: there are none. */
  underWay(unit: Scorable): Promise<unknown> | null {
    if (!this.anyUnderWay) return null;
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
