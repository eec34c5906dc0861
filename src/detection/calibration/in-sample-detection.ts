import type { InSampleForecast } from '../../forecasting/in-sample.ts';
import { type Calibration, calibrate, deviationAt } from './calibration.ts';
import { twoSidedThreshold } from './threshold.ts';

/** Intervals by the residuals of a series: forecast +- z * deviation (sample standard deviation). */
export function calibrateInSample({ residual }: InSampleForecast): Calibration {
  return calibrate(residual);
}

/** Which values lie strictly outside the interval of `level`. */
export function flagInSample({ residual }: InSampleForecast, calibration: Calibration, level: number): boolean[] {
  const half = twoSidedThreshold(level) * deviationAt(calibration, 0, 0);
  return Array.from(residual, (distance) => half > 0 && Math.abs(distance) > half);
}
