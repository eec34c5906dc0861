import { CONTEXT_MIN } from '../../forecasting/context-length.ts';
import type { ResidualPlaces } from './calibration.ts';

/**
 * Where forecasts are made. Cutoffs lie on one grid per series, so that windows that follow each other share forecasts:
 *
 *   c = n - h, n - h - s, n - h - 2s, ... >= CONTEXT_MIN        (n = positions when a detection window closes)
 */

interface CutoffGrid {
  readonly h: number;
  readonly stepSize: number;
}

/** The grid of a series of the stream. */
export interface ForecastGrid extends CutoffGrid {
  /** Windows end at positions of this remainder by `detectionSize`. The first one is shorter if it is not 0. */
  readonly phase: number;
  /** The first position that can be forecast. */
  readonly first: number;
}

export function forecastGrid({ h, stepSize }: CutoffGrid, phase: number): ForecastGrid {
  const first = Math.ceil((CONTEXT_MIN + h - phase) / stepSize) * stepSize - h + phase;
  return { h, stepSize, phase, first };
}

/** First position of the window that a position is in; negative in a first one that is shorter. */
export function windowStartOf(
  position: number,
  { phase }: Pick<ForecastGrid, 'phase'>,
  { detectionSize }: { readonly detectionSize: number },
): number {
  return position - ((position + detectionSize - phase) % detectionSize);
}

/**
 * True if a forecast is made once `position` observations are there. In the stream windows close at multiples of s
 * after the phase, so n drops out.
 */
export function isCutoff(position: number, { first, stepSize }: ForecastGrid): boolean {
  return position >= first && (position - first) % stepSize === 0;
}

/** Number of positions in [0, end) that have a forecast on the stream's grid. */
export function forecastedPositions(end: number, { h, stepSize, first }: ForecastGrid): number {
  if (end <= first) return 0;
  if (stepSize <= h) return end - first;
  const cutoffs = Math.floor((end - 1 - first) / stepSize) + 1;
  const last = first + (cutoffs - 1) * stepSize;
  return (cutoffs - 1) * h + Math.min(h, end - last);
}

/** Cutoffs that count for a window closing at `n`, ascending. */
export function cutoffsOfWindow(n: number, { h, stepSize }: CutoffGrid): number[] {
  const cutoffs: number[] = [];
  for (let cutoff = n - h; cutoff >= CONTEXT_MIN; cutoff -= stepSize) cutoffs.push(cutoff);
  return cutoffs.reverse();
}

/**
 * How many cutoffs c <= cutoffMax of the stream's grid have `position` in their horizon: position - h < c <= position.
 */
export function coveringCutoffs(position: number, cutoffMax: number, { h, stepSize, first }: ForecastGrid): number {
  const last = Math.min(position, cutoffMax);
  const oldest = Math.max(position - h + 1, first);
  if (last < oldest) return 0;
  return Math.floor((last - first) / stepSize) - Math.floor((oldest - 1 - first) / stepSize);
}

/** Horizons that must lie before a cutoff for its residuals to count in full. */
const HORIZONS_SEEN_MIN = 4;
/**
 * Power of the share of them that a residual weighs: forecasts of a day from a day of context err many times more than
 * those from four.
 */
const WEIGHT_POWER = 4;

/**
 * How the forecasted positions of a series, counted from `offset`, were forecast. Residuals of a forecast that had
 * little to see count less, since it erred for that reason.
 * @param first first cutoff of the series' grid
 */
export function residualPlaces(
  first: number,
  offset: number,
  { h, stepSize, context }: CutoffGrid & { readonly context: number },
): ResidualPlaces {
  const steps = Math.min(h, stepSize);
  const wanted = Math.min(HORIZONS_SEEN_MIN * h, context);
  // From this forecasted position on every weight is 1.
  const full = Math.ceil(Math.max(0, wanted - first) / stepSize) * steps;
  return {
    key: offset >= full ? offset % steps : undefined,
    stepOf: (index) => (offset + index) % steps,
    weightOf(index) {
      const position = offset + index;
      if (position >= full) return 1;
      const cutoff = first + Math.floor(position / steps) * stepSize;
      return cutoff >= wanted ? 1 : (cutoff / wanted) ** WEIGHT_POWER;
    },
  };
}

/** Step of the horizon, from 0, at which the newest cutoff of the grid forecasts a position. */
export function stepOfHorizon(position: number, first: number, { stepSize }: CutoffGrid): number {
  return (position - first) % stepSize;
}
