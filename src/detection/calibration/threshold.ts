import { normalQuantile } from '../../forecasting/normal-distribution.ts';
import { BFLOAT_ROUNDING } from './bfloat16.ts';
import { type Calibration, deviationAt } from './calibration.ts';
import type { CalibrationMethod } from './settings.ts';

/** Below this many detection windows of forecasted samples a calibration is not trusted. */
export const CALIBRATION_WINDOWS_MIN = 6;

/** Half-width of a two-sided interval in deviations: z((1 + level / 100) / 2). */
export function twoSidedThreshold(level: number): number {
  return normalQuantile((1 + level / 100) / 2);
}

/** Threshold of a score that is anomalous only when large: z(level / 100). */
export function oneSidedThreshold(level: number): number {
  return normalQuantile(level / 100);
}

/** (residual - mean) / deviation; NaN if the residual is missing or the deviation is 0 or not finite. */
export function standardScore(residual: number, mean: number, deviation: number): number {
  return deviation > 0 && deviation < Number.POSITIVE_INFINITY ? (residual - mean) / deviation : Number.NaN;
}

/** Marks residuals strictly outside of +- z deviations; a missing one never is. */
export function flagResiduals(residuals: Float64Array, calibration: Calibration, level: number): boolean[] {
  const half = twoSidedThreshold(level) * deviationAt(calibration, 0, 0);
  return Array.from(residuals, (distance) => half > 0 && Math.abs(distance) > half);
}

/** Scale of residuals: fixed while a detection window is open. */
export interface Yardstick {
  readonly method: CalibrationMethod;
  readonly calibration: Calibration;
  /** Smallest deviation of the series. */
  readonly floor: number;
}

/**
 * The smallest deviation of residuals that were kept as bfloat16, by that of the series: where their mean is far from
 * zero, the rounding hides how little they vary. A residual at the true mean has a score of 1 at most then.
 */
export function floorOfRounded(floor: number, { mean }: Calibration): number {
  return Math.max(floor, BFLOAT_ROUNDING * Math.abs(mean));
}

/** The comparison of one residual with the calibration. Numbers are NaN if there is no residual or no deviation. */
interface Judgement {
  readonly score: number;
  /** Bounds of the interval, as distances from the forecast. */
  readonly lo: number;
  readonly hi: number;
  /** Strictly outside the interval; never for a missing residual. */
  readonly outside: boolean;
}

/**
 * Compares a residual at a step of the horizon. The interval is centred on the forecast (`plain`) or on the forecast
 * plus the mean residual (`robust`).
 * @param threshold half-width of the interval in deviations
 */
export function judge(
  residual: number,
  step: number,
  threshold: number,
  { method, calibration, floor }: Yardstick,
): Judgement {
  const { mean } = calibration;
  const deviation = deviationAt(calibration, step, floor);
  const centre = method === 'plain' ? 0 : mean;
  const half = threshold * deviation;
  return {
    score: standardScore(residual, mean, deviation),
    lo: centre - half,
    hi: centre + half,
    outside: deviation > 0 && Math.abs(residual - centre) > half,
  };
}

/** An observation and its standing forecast, as distances from the origin of their series. */
interface ForecastDistance {
  readonly position: number;
  readonly distance: number;
  readonly forecast: number;
  /** Counts the steps of the horizon from 0. */
  readonly step: number;
}

/**
 * Judges an observation by its forecast, or by its own level where a flat series is back at it (`robust`): forecasts
 * still follow where it went.
 * @param series knows whether it was flat, and is back where it was
 */
export function judgeDistance(
  { position, distance, forecast, step }: ForecastDistance,
  threshold: number,
  yardstick: Yardstick,
  series: { isBackAt(position: number): boolean },
): { readonly expected: number; readonly judgement: Judgement } {
  const judgement = judge(distance - forecast, step, threshold, yardstick);
  if (!judgement.outside || yardstick.method === 'plain' || !series.isBackAt(position))
    return { expected: forecast, judgement };
  return { expected: distance, judgement: judge(0, step, threshold, yardstick) };
}
