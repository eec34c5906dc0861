import { fillGaps } from './context-gaps.ts';
import { holdOutliers } from './context-outliers.ts';

/** Inputs of a graph that belong to its contexts. */
interface GraphContexts {
  /** 1 for a value that was observed or filled, else 0; as long as the values. */
  readonly observed: Float32Array<ArrayBuffer>;
  /** Divisor of each row; 1 for ordinary values. */
  readonly scales: Float64Array;
  /** Rows with an infinite value. */
  readonly infinite: readonly number[];
}

/** Rows whose largest magnitude is 2^31 or more, or less than 2^-30, are scaled. */
const EXPONENT_MAX = 30;
/** Smaller forecasts are numerical noise. */
const NOISE_MAX = 2 ** -100;
const FLOAT32_MAX = 2 ** 127 * (2 - 2 ** -23);

/**
 * Holds the outliers of each row (context-outliers.ts), fills its gaps (context-gaps.ts), replaces what is still not
 * finite by 0, in place, and scales rows of huge or tiny values to about 1: a graph squares its inputs, and the square
 * of 2^64 (a common sentinel value) overflows float32. The scale is a power of two, so that nothing is rounded.
 * Ordinary rows stay as they are.
 * @param values `rows * contextLength`, row-major, NaN if nothing was observed
 */
export function scaleContexts(values: Float32Array, contextLength: number): GraphContexts {
  const observed = new Float32Array(values.length);
  const scales = new Float64Array(values.length / contextLength).fill(1);
  const infinite: number[] = [];
  for (let row = 0; row < scales.length; row++) {
    const end = (row + 1) * contextLength;
    const context = values.subarray(row * contextLength, end);
    holdOutliers(context);
    fillGaps(context);
    let magnitude = 0;
    let finite = true;
    for (let i = row * contextLength; i < end; i++) {
      const value = values[i];
      if (value - value === 0) {
        observed[i] = 1;
        magnitude = Math.max(magnitude, Math.abs(value));
        continue;
      }
      if (!Number.isNaN(value)) finite = false;
      values[i] = 0;
    }
    if (!finite) infinite.push(row);
    const exponent = magnitude === 0 ? 0 : Math.floor(Math.log2(magnitude));
    if (Math.abs(exponent) <= EXPONENT_MAX) continue;
    scales[row] = 2 ** exponent;
    for (let i = row * contextLength; i < end; i++) values[i] /= scales[row];
  }
  return { observed, scales, infinite };
}

/**
 * Rescales forecasts to the units of their contexts, in place, and clamps them to float32. Forecasts below NOISE_MAX
 * become 0: they are numerical noise around a series that is constantly 0, and must not give residuals.
 */
export function unscaleForecasts(forecasts: Float32Array, scales: Float64Array): void {
  const rowLength = forecasts.length / scales.length;
  for (let i = 0; i < forecasts.length; i++) if (Math.abs(forecasts[i]) < NOISE_MAX) forecasts[i] = 0;
  scales.forEach((scale, row) => {
    if (scale === 1) return;
    for (let i = row * rowLength; i < (row + 1) * rowLength; i++) {
      forecasts[i] = Math.max(-FLOAT32_MAX, Math.min(FLOAT32_MAX, forecasts[i] * scale));
    }
  });
}
