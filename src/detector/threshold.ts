import { normalQuantile } from '../forecast/normal-distribution.ts';
import type { Calibration } from './calibration.ts';

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

/** (residual - mean) / deviation; NaN where the residual is missing or the deviation is 0 or not finite. */
export function standardScore(residual: number, calibration: Calibration): number {
  const { mean, deviation } = calibration;
  return deviation > 0 && deviation < Number.POSITIVE_INFINITY ? (residual - mean) / deviation : Number.NaN;
}

/**
 * An anomaly lies strictly outside forecast +- threshold * deviation; a missing value or an unusable deviation never
 * does.
 */
export function isOutside(residual: number, threshold: number, deviation: number): boolean {
  return deviation > 0 && Math.abs(residual) > threshold * deviation;
}
