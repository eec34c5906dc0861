import { clampToFloat32 } from '../../forecasting/float32.ts';
import { cutoffsOfWindow } from '../calibration/cutoff-grid.ts';
import { PRECISION_STATE, precisionLost, recordPrecision, startPrecision } from '../calibration/precision.ts';
import {
  countedValue,
  deviationFloor,
  isFlatSoFar,
  RESOLUTION_STATE,
  recordResolution,
  startResolution,
} from '../calibration/resolution.ts';
import type { DetectionSettings } from '../calibration/settings.ts';
import { isBackWhereFlat } from '../grade/flat-return.ts';

/** A whole series with the sums of its forecasts, as the stream would keep it: float32 distances from an origin. */
export interface History {
  /** Distances from the origin of their segment, rounded as the model gets them. */
  readonly values: Float32Array;
  /** The same without the effect of exogenous variables: what the model gets. */
  readonly seen: Float32Array;
  /** As they were sent, without differences that are rounding alone. */
  readonly observed: ArrayLike<number>;
  readonly segments: readonly OriginSegment[];
  readonly forecastSums: Float64Array;
  readonly forecastCounts: Uint32Array;
  /** The same of the forecasts that a stream would have had as it scored the position; empty if alarms are off. */
  readonly arrivalSums: Float64Array;
  readonly arrivalCounts: Uint32Array;
  /** Deviation by the model's quantiles, by cutoff; for the grade alone, of the first cutoffs. */
  readonly modelDeviations: Map<number, number>;
  readonly detectionSize: number;
  /** Smallest deviation that residuals are judged by: from the values before the detection window, and from all. */
  readonly floorBeforeWindow: number;
  readonly floor: number;
  /** Before this position the series has hardly moved. */
  readonly flatEnd: number;
}

/**
 * Positions from `start` on that share an origin. A new segment begins where a window was rounded away next to the
 * origin (precision.ts).
 */
interface OriginSegment {
  readonly start: number;
  /** The first observed value of the segment; NaN if there is none. */
  origin: number;
}

/** @param cleaned what is subtracted from the values before the model gets them; null if nothing is */
export function historyOf(
  series: ArrayLike<number>,
  cleaned: ArrayLike<number> | null,
  { detectionSize, alarmRate }: Pick<DetectionSettings, 'detectionSize' | 'alarmRate'>,
): History {
  const { length } = series;
  const values = new Float32Array(length);
  const seen = cleaned === null ? values : new Float32Array(length);
  const resolution = new Float64Array(RESOLUTION_STATE.count);
  const precision = new Float64Array(PRECISION_STATE.count);
  startResolution(resolution, 0);
  startPrecision(precision, 0);
  let segment: OriginSegment = { start: 0, origin: Number.NaN };
  const segments = [segment];
  let floorBeforeWindow = 0;
  let flatEnd = 0;
  let counted: Float64Array | null = null;
  for (let position = 0; position < length; position++) {
    const value = countedValue(resolution, 0, series[position]);
    if (Math.abs(value - series[position]) > 0) {
      counted ??= Float64Array.from(series);
      counted[position] = value;
    }
    if (position > 0 && (length - position) % detectionSize === 0) {
      if (precisionLost(precision, 0)) {
        segment = { start: position, origin: Number.NaN };
        segments.push(segment);
      }
      startPrecision(precision, 0);
      if (length - position === detectionSize) floorBeforeWindow = deviationFloor(resolution, 0);
    }
    if (Number.isNaN(segment.origin)) segment.origin = value;
    const { origin } = segment;
    const distance = Math.fround(clampToFloat32(value - origin));
    values[position] = distance;
    if (cleaned !== null) seen[position] = clampToFloat32(value - origin - cleaned[position]);
    if (isFlatSoFar(resolution, 0)) flatEnd = position + 1;
    recordResolution(resolution, 0, value);
    recordPrecision(precision, 0, { value, origin, distance });
  }
  return {
    values,
    seen,
    observed: counted ?? series,
    segments,
    forecastSums: new Float64Array(length),
    forecastCounts: new Uint32Array(length),
    arrivalSums: new Float64Array(alarmRate === null ? 0 : length),
    arrivalCounts: new Uint32Array(alarmRate === null ? 0 : length),
    modelDeviations: new Map(),
    detectionSize,
    floorBeforeWindow,
    floor: deviationFloor(resolution, 0),
    flatEnd,
  };
}

/** Writes the context before a cutoff, oldest first, into `target`; NaN if nothing is known. */
export function contextBefore({ seen, segments }: History, cutoff: number, target: Float32Array): void {
  const { start } = segmentAt(segments, cutoff);
  target.set(seen.subarray(cutoff - target.length, cutoff));
  if (start > cutoff - target.length) target.fill(Number.NaN, 0, start - (cutoff - target.length));
}

/** Adds the forecast of one cutoff; null and what reaches into the next segment count as missing. */
export function addForecast(history: History, cutoff: number, h: number, medians: Float32Array | null): void {
  const { start } = segmentAt(history.segments, cutoff);
  const isGraded = history.arrivalSums.length > 0;
  for (let k = 0; k < h; k++) {
    const known = medians !== null && segmentAt(history.segments, cutoff + k).start === start;
    const position = cutoff + k;
    const median = known ? medians[k] : Number.NaN;
    history.forecastSums[position] += median;
    history.forecastCounts[position]++;
    if (!isGraded || cutoff > windowEndOf(history, position) - h) continue;
    history.arrivalSums[position] += median;
    history.arrivalCounts[position]++;
  }
}

/** End of the detection window that holds a position; windows are aligned to the end of the series. */
function windowEndOf({ values, detectionSize }: History, position: number): number {
  return values.length - Math.floor((values.length - 1 - position) / detectionSize) * detectionSize;
}

/** Observation - forecast of every position; NaN if either is missing. */
export function residualsOf(history: History): Float64Array {
  return Float64Array.from(history.values, (value, position) => value - forecastAt(history, position));
}

/** Moves every forecast by what is added to it at its position. */
export function shiftForecasts(history: History, added: Float64Array): void {
  const { forecastSums, forecastCounts, arrivalSums, arrivalCounts } = history;
  for (let i = 0; i < forecastSums.length; i++) forecastSums[i] += forecastCounts[i] * added[i];
  for (let i = 0; i < arrivalSums.length; i++) arrivalSums[i] += arrivalCounts[i] * added[i];
}

/** Mean forecast of a position, as a distance from its origin; NaN if there is none. */
export function forecastAt({ forecastSums, forecastCounts }: History, position: number): number {
  const count = forecastCounts[position];
  return count === 0 ? Number.NaN : forecastSums[position] / count;
}

/** Mean of the forecasts that a stream would have had as it scored the position, as a distance from its origin. */
export function arrivalForecastAt({ arrivalSums, arrivalCounts }: History, position: number): number {
  const count = arrivalCounts[position];
  return count === 0 ? Number.NaN : arrivalSums[position] / count;
}

export function originAt({ segments }: History, position: number): number {
  return segmentAt(segments, position).origin;
}

/** True if the series is back where it was flat, as the stream would see it: flat-return.ts. */
export function isFlatReturnAt({ values, segments, flatEnd }: History, position: number, capacity: number): boolean {
  if (position >= flatEnd) return false;
  const oldest = Math.max(segmentAt(segments, position).start, position - capacity + 1);
  const isRepeated = values[position] === values[position - 1];
  return isRepeated && isBackWhereFlat({ distanceAt: (row) => values[row], oldest }, position);
}

function segmentAt(segments: readonly OriginSegment[], position: number): OriginSegment {
  for (let i = segments.length - 1; i > 0; i--) if (segments[i].start <= position) return segments[i];
  return segments[0];
}

/** The cutoffs that count for the detection window they are in, ascending: those of a stream's standing forecasts. */
export function countingCutoffs(history: History, settings: Pick<DetectionSettings, 'h' | 'stepSize'>): number[] {
  const cutoffs = cutoffsOfWindow(history.values.length, settings);
  return cutoffs.filter((cutoff) => cutoff <= windowEndOf(history, cutoff) - settings.h);
}
