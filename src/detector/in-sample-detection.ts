import type { InSampleForecast } from '../forecast/in-sample.ts';
import { type Calibration, calibrate } from './calibration.ts';
import { isOutside, twoSidedThreshold } from './threshold.ts';

/** What the residuals of a series say about its intervals: forecast +- z * deviation (sample standard deviation). */
export function calibrateInSample({ residual }: InSampleForecast): Calibration {
  return calibrate(residual);
}

/** Which values lie strictly outside the interval of `level`. */
export function flagInSample({ residual }: InSampleForecast, { deviation }: Calibration, level: number): boolean[] {
  const threshold = twoSidedThreshold(level);
  return Array.from(residual, (distance) => isOutside(distance, threshold, deviation));
}
