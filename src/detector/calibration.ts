/** What "normal" looks like: mean and sample standard deviation of earlier residuals. */
export interface Calibration {
  /** Residuals that were there (missing ones do not count). */
  readonly samples: number;
  readonly mean: number;
  /** Sample standard deviation (ddof 1); NaN below two samples. */
  readonly deviation: number;
}

/** Running sums of residuals (Welford 1962), for calibration on the whole past in constant space. */
export interface ResidualSums {
  readonly samples: number;
  readonly mean: number;
  /** Sum of squared distances from the mean. */
  readonly squares: number;
}

export const NO_RESIDUALS: ResidualSums = { samples: 0, mean: 0, squares: 0 };

/** Adds one residual; a missing one (NaN) changes nothing. */
export function addResidual(sums: ResidualSums, residual: number): ResidualSums {
  if (Number.isNaN(residual)) return sums;
  const samples = sums.samples + 1;
  const distance = residual - sums.mean;
  const mean = sums.mean + distance / samples;
  return { samples, mean, squares: sums.squares + distance * (residual - mean) };
}

export function calibrationOfSums(sums: ResidualSums): Calibration {
  const deviation = sums.samples < 2 ? Number.NaN : Math.sqrt(sums.squares / (sums.samples - 1));
  return { samples: sums.samples, mean: sums.mean, deviation };
}

/** Two passes over `residuals[start, start + length)`; NaN entries are missing and do not count. */
export function calibrate(residuals: Float32Array | Float64Array, start = 0, length = residuals.length): Calibration {
  let samples = 0;
  let sum = 0;
  for (let i = start; i < start + length; i++) {
    const residual = residuals[i];
    if (!Number.isNaN(residual)) {
      samples++;
      sum += residual;
    }
  }
  if (samples === 0) return { samples, mean: 0, deviation: Number.NaN };
  const mean = sum / samples;
  let squares = 0;
  for (let i = start; i < start + length; i++) {
    const distance = residuals[i] - mean;
    if (!Number.isNaN(distance)) squares += distance * distance;
  }
  return { samples, mean, deviation: samples < 2 ? Number.NaN : Math.sqrt(squares / (samples - 1)) };
}
