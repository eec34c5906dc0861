import type { SeriesDetector } from '../../../detector/series/series-detector.ts';
import type { DetectionUnit } from '../unit/detection-unit.ts';
import { type DueForecasts, dueForecasts, supplyBatch } from './supply-forecasts.ts';

/** Most contexts of a partition that wait for the model at a time. Bounds their memory and the queue of the model. */
export const FORECAST_ROWS_MAX = 1_024;

/**
 * The forecasts of a partition that are on their way. Each is requested once, as soon as it is due, and whoever needs
 * it waits for it alone: not for those that were requested before, unless they are more than FORECAST_ROWS_MAX.
 */
export class RequestedForecasts {
  /** What settles with the forecast of a detector. One that has failed stays. */
  readonly #requests = new Map<SeriesDetector, Promise<void>>();
  /** Settles with all of them so far. */
  #all: Promise<void> = Promise.resolve();
  #rows = 0;
  #hasFailed = false;

  /**
   * Supplies forecasts to every detector of `units` that waits for one. Rejects when the model fails or `signal`
   * aborts, also where it did so in an earlier call: then the state must be discarded.
   */
  async supply(units: readonly DetectionUnit[], signal: AbortSignal): Promise<void> {
    const batches = dueForecasts(units, { rowsMax: FORECAST_ROWS_MAX, except: this.#requests });
    for (const batch of batches) this.#request(batch, signal);
    await this.#of(units);
  }

  /**
   * Settles when the forecasts are there that `units` wait for and that were requested; null: there are none. After a
   * failure nothing is worth waiting for.
   */
  underWay(units: Iterable<DetectionUnit>): Promise<unknown> | null {
    return this.#hasFailed ? null : this.#of(units);
  }

  #of(units: Iterable<DetectionUnit>): Promise<unknown> | null {
    if (this.#requests.size === 0) return null;
    const requests = new Set<Promise<void>>();
    for (const unit of units) {
      for (const detector of unit.forecastsDue()) {
        const request = this.#requests.get(detector);
        if (request !== undefined) requests.add(request);
      }
    }
    return requests.size === 0 ? null : Promise.all(requests);
  }

  #request(batch: DueForecasts, signal: AbortSignal): void {
    const { detectors } = batch;
    const rows = detectors.length;
    const fits = this.#rows === 0 || this.#rows + rows <= FORECAST_ROWS_MAX;
    const request = (fits ? supplyBatch(batch, signal) : this.#all.then(() => supplyBatch(batch, signal))).then(() => {
      this.#rows -= rows;
      for (const detector of detectors) this.#requests.delete(detector);
    });
    this.#rows += rows;
    for (const detector of detectors) this.#requests.set(detector, request);
    // Without the results: an array of them would hold that of the request before, and so on.
    this.#all = Promise.all([this.#all, request]).then(() => {});
    // It is thrown by the next call that needs one of these forecasts.
    this.#all.catch(() => {
      this.#hasFailed = true;
    });
  }
}
