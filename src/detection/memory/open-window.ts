import { coveringCutoffs, forecastedPositions } from '../calibration/cutoff-grid.ts';
import type { SeriesRings } from './series-rings.ts';

/**
 * The open detection window of a series: sums of its forecasts and of what reaches beyond it, as distances from the
 * origin of the series.
 *
 *   cutoffs up to windowEnd - h   count for this window
 *   later ones                    join when it has closed, for the calibration of the next
 */

interface WindowForecast {
  readonly windowStart: number;
  readonly cutoff: number;
  /** Medians of the h positions from the cutoff on, at `medians[from..]`; null without anything to forecast from. */
  readonly medians: Float32Array | null;
  readonly from: number;
}

/** Adds a forecast. */
export function addToWindow(
  { sums, sumStart, layout }: SeriesRings,
  { windowStart, cutoff, medians, from }: WindowForecast,
): void {
  const { h, detectionSize } = layout.settings;
  const windowEnd = windowStart + detectionSize;
  const counts = cutoff <= windowEnd - h;
  for (let k = 0; k < h; k++) {
    const position = cutoff + k;
    const later = !counts && position < windowEnd;
    const at = sumStart + (later ? layout.forecastLength : 0) + position - windowStart;
    sums[at] += medians === null ? Number.NaN : medians[from + k];
  }
}

/** Mean of the forecasts of `position` that count for the open window; NaN if there is none. */
export function standingForecast(rings: SeriesRings, windowStart: number, position: number): number {
  const { settings } = rings.layout;
  const count = coveringCutoffs(position, windowStart + settings.detectionSize - settings.h, rings.grid);
  return count === 0 ? Number.NaN : rings.sums[rings.sumStart + position - windowStart] / count;
}

/** Mean of all forecasts of a position of the window that closes; null if there is none. */
export function finalForecast(rings: SeriesRings, windowStart: number, position: number): number | null {
  const { laterLength, forecastLength } = rings.layout;
  const count = coveringCutoffs(position, position, rings.grid);
  if (count === 0) return null;
  const at = rings.sumStart + position - windowStart;
  const later = laterLength === 0 ? 0 : rings.sums[forecastLength + at];
  return (rings.sums[at] + later) / count;
}

/** The forecast of a position in the ring, from its residual where its window has closed; NaN if not kept. */
export function keptForecast(
  {
    rings,
    windowStart,
    residualCount,
  }: { readonly rings: SeriesRings; readonly windowStart: number; readonly residualCount: number },
  position: number,
): number {
  if (position >= windowStart) return standingForecast(rings, windowStart, position);
  const index = forecastedPositions(position, rings.grid);
  const isKept = index >= residualCount - rings.layout.residualCapacity;
  if (!isKept || forecastedPositions(position + 1, rings.grid) === index) return Number.NaN;
  return rings.distanceAt(position) - rings.residualAt(index);
}

/** The window has closed: what reaches beyond it comes first. */
export function shiftWindow({ sums, sumStart, layout }: SeriesRings): void {
  const { detectionSize } = layout.settings;
  const ahead = layout.forecastLength - detectionSize;
  if (ahead > 0) {
    sums.copyWithin(sumStart, sumStart + detectionSize, sumStart + layout.forecastLength);
  }
  sums.fill(0, sumStart + ahead, sumStart + layout.forecastLength + layout.laterLength);
}

/** The origin of the series changed as the window opened: what was forecast from before means nothing any more. */
export function forgetForecasts({ sums, sumStart, layout, grid }: SeriesRings, windowStart: number): void {
  const { settings } = layout;
  for (let ahead = 0; ahead < layout.forecastLength - settings.detectionSize; ahead++) {
    const covered = coveringCutoffs(windowStart + ahead, windowStart - 1, grid) > 0;
    if (covered) sums[sumStart + ahead] = Number.NaN;
  }
}
