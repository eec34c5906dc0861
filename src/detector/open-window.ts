import { coveringCutoffs } from './cutoff-grid.ts';
import type { SeriesRings } from './series-rings.ts';
import type { DetectionSettings } from './settings.ts';

/**
 * Sums of the forecasts of the open detection window and of what reaches beyond it, as distances from the origin of the
 * series.
 *
 *   cutoffs up to windowEnd - h   count for this window
 *   later ones                    join when it has closed, for the calibration of the next
 */
export class OpenWindow {
  readonly #rings: SeriesRings;
  readonly #settings: DetectionSettings;

  constructor(rings: SeriesRings, settings: DetectionSettings) {
    this.#rings = rings;
    this.#settings = settings;
  }

  /**
   * Adds the medians of the h positions from `cutoff` on, at `medians[from..]`; null where there was nothing to
   * forecast from.
   */
  addForecast(windowStart: number, cutoff: number, medians: Float32Array | null, from: number): void {
    const { block, layout } = this.#rings;
    const { h, detectionSize } = this.#settings;
    const windowEnd = windowStart + detectionSize;
    const counts = cutoff <= windowEnd - h;
    for (let k = 0; k < h; k++) {
      const position = cutoff + k;
      const later = !counts && position < windowEnd;
      const at = block.doubleStart + (later ? layout.forecastLength : 0) + position - windowStart;
      block.slab.doubles[at] += medians === null ? Number.NaN : medians[from + k];
    }
  }

  /** Mean of the forecasts of `position` that count for the open window; NaN where there is none. */
  forecastAt(windowStart: number, position: number): number {
    const { h, detectionSize } = this.#settings;
    const count = coveringCutoffs(position, windowStart + detectionSize - h, this.#settings);
    return count === 0 ? Number.NaN : this.#sumAt(position - windowStart) / count;
  }

  /** Mean of all forecasts of a position of the window that closes; null where there is none. */
  finalForecastAt(windowStart: number, position: number): number | null {
    const { laterLength, forecastLength } = this.#rings.layout;
    const count = coveringCutoffs(position, position, this.#settings);
    if (count === 0) return null;
    const at = position - windowStart;
    const later = laterLength === 0 ? 0 : this.#sumAt(forecastLength + at);
    return (this.#sumAt(at) + later) / count;
  }

  /** The window has closed: what reaches beyond it comes first. */
  shift(): void {
    const { block, layout } = this.#rings;
    const { doubles } = block.slab;
    const ahead = layout.forecastLength - this.#settings.detectionSize;
    if (ahead > 0) {
      doubles.copyWithin(
        block.doubleStart,
        block.doubleStart + this.#settings.detectionSize,
        block.doubleStart + layout.forecastLength,
      );
    }
    doubles.fill(0, block.doubleStart + ahead, block.doubleStart + layout.scalarStart);
  }

  /** The origin of the series changed as the window opened: what was forecast from before means nothing any more. */
  forgetForecasts(windowStart: number): void {
    const { block, layout } = this.#rings;
    for (let ahead = 0; ahead < layout.forecastLength - this.#settings.detectionSize; ahead++) {
      const covered = coveringCutoffs(windowStart + ahead, windowStart - 1, this.#settings) > 0;
      if (covered) block.slab.doubles[block.doubleStart + ahead] = Number.NaN;
    }
  }

  #sumAt(index: number): number {
    return this.#rings.doubles[this.#rings.block.doubleStart + index];
  }
}
