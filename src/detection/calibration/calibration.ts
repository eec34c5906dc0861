import { nthSmallest } from './nth-smallest.ts';
import type { CalibrationMethod } from './settings.ts';

/** Mean and variance of residuals under "normal". Variances are sample variances (ddof 1). */
export interface Calibration {
  /** Residuals that are not missing. */
  readonly samples: number;
  readonly mean: number;
  /** Variance at the first step of the horizon; NaN below two samples. */
  readonly variance: number;
  /** Growth that each further step of the horizon adds to the variance; 0 where the variance is pooled. */
  readonly growth: number;
}

/** The forecast behind the i-th residual of an array. */
export interface ResidualPlaces {
  /** Step of the horizon, from 0, that the newest forecast of its position had. */
  readonly stepOf: (index: number) => number;
  /** 0..1: how much of a full context that forecast had. */
  readonly weightOf: (index: number) => number;
  /** Places of the same settings are equal if their keys are; undefined: no others need to be. */
  readonly key?: number | undefined;
}

/** Running sums of residuals, for calibration on the whole past in constant space. */
export interface ResidualSums {
  readonly samples: number;
  readonly weight: number;
  readonly mean: number;
  /** Sum of weighted squared distances from the mean (Welford 1962). */
  readonly squares: number;
  /** Sums over the step k of the horizon: w k, w k^2, and k times the increments of `squares`. */
  readonly steps: number;
  readonly stepSquares: number;
  readonly squaresBySteps: number;
}

export const NO_RESIDUALS: ResidualSums = {
  samples: 0,
  weight: 0,
  mean: 0,
  squares: 0,
  steps: 0,
  stepSquares: 0,
  squaresBySteps: 0,
};

const NOT_CALIBRATED: Calibration = { samples: 0, mean: 0, variance: Number.NaN, growth: 0 };

/** Residuals count clipped at this many deviations from the centre (`robust`). */
const CLIP_DEVIATIONS = 6;
/** Below this many residuals the running sums do not know what an outlier is. */
const CLIP_SAMPLES_MIN = 24;
/**
 * Share of residuals on either side that the scale of `robust` ignores: a new noise level counts once it fills this
 * share.
 */
const TAIL_SHARE = 0.05;
/** Distance of the two quantiles of a standard normal distribution that TAIL_SHARE cuts off. */
const NORMAL_SPREAD = 3.2897072539029435;
/** No step of the horizon has less than this share of the pooled variance. */
const VARIANCE_SHARE_MIN = 0.1;
/** Fewer horizons count as so many, which double the growth: a short history would hide what is odd. */
const HORIZONS_MIN = 7;
/** Square of the 99.5 % quantile of the standard normal distribution. */
const SQUARE_99 = 6.635;

/** Deviation of residuals at a step of the horizon, at least `floor`; NaN below two samples. */
export function deviationAt({ variance, growth }: Calibration, step: number, floor: number): number {
  const deviation = Math.sqrt(Math.max(0, variance + growth * step));
  return Math.max(floor, deviation);
}

/** Adds the `index`-th residual; a missing one (NaN) changes nothing. */
export function addResidual(
  sums: ResidualSums,
  residual: number,
  index: number,
  { method, places }: { readonly method: CalibrationMethod; readonly places: ResidualPlaces },
): ResidualSums {
  if (Number.isNaN(residual)) return sums;
  const step = places.stepOf(index);
  const plain = method === 'plain';
  const counted = plain ? residual : clippedBySums(residual, sums, step);
  const w = plain ? 1 : places.weightOf(index);
  const weight = sums.weight + w;
  const distance = counted - sums.mean;
  const mean = sums.mean + (w * distance) / weight;
  const increment = w * distance * (counted - mean);
  return {
    samples: sums.samples + 1,
    weight,
    mean,
    squares: sums.squares + increment,
    steps: sums.steps + w * step,
    stepSquares: sums.stepSquares + w * step * step,
    squaresBySteps: sums.squaresBySteps + step * increment,
  };
}

function clippedBySums(residual: number, sums: ResidualSums, step: number): number {
  if (sums.samples < CLIP_SAMPLES_MIN) return residual;
  const bound = CLIP_DEVIATIONS * deviationAt(calibrationOfSums(sums, 'robust'), step, 0);
  return bound > 0 ? clipped(residual, sums.mean - bound, sums.mean + bound) : residual;
}

export function calibrationOfSums(sums: ResidualSums, method: CalibrationMethod): Calibration {
  const { samples, mean } = sums;
  if (samples < 2) return { ...NOT_CALIBRATED, samples, mean };
  return method === 'plain'
    ? { samples, mean, variance: sums.squares / (samples - 1), growth: 0 }
    : { samples, mean, ...varianceAlongHorizon(sums) };
}

/**
 * Mean and sample variance of `residuals[start, start + length)`, in two passes; NaN entries are missing and do not
 * count.
 */
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
  if (samples === 0) return NOT_CALIBRATED;
  const mean = sum / samples;
  let squares = 0;
  for (let i = start; i < start + length; i++) {
    const distance = residuals[i] - mean;
    if (!Number.isNaN(distance)) squares += distance * distance;
  }
  return { samples, mean, variance: samples < 2 ? Number.NaN : squares / (samples - 1), growth: 0 };
}

interface RobustOptions {
  /** Smallest deviation of the series. */
  readonly floor: number;
  /** Used again by each calibration that is given them: arrays of its own are as dear as the calibration. */
  readonly columns?: CalibrationColumns;
}

/** Buffers of robust calibrations of series with the same settings. Its arrays hold until the next one. */
export class CalibrationColumns {
  #present = new Float64Array(0);
  #counted = new Float64Array(0);
  #steps = new Float64Array(0);
  #weights = new Float64Array(0);
  #key: number | undefined;

  /** The residuals that are not missing. */
  present(residuals: Float32Array): Float64Array {
    if (this.#present.length < residuals.length) this.#present = new Float64Array(2 * residuals.length);
    const present = this.#present;
    let count = 0;
    for (let i = 0; i < residuals.length; i++) if (!Number.isNaN(residuals[i])) present[count++] = residuals[i];
    return present.subarray(0, count);
  }

  /** Room for so many residuals, with the step of the horizon and the weight of each. */
  rows(count: number, { stepOf, weightOf, key }: ResidualPlaces) {
    if (this.#counted.length < count) {
      [this.#counted, this.#steps, this.#weights] = [0, 1, 2].map(() => new Float64Array(count));
      this.#key = undefined;
    }
    if (key === undefined || key !== this.#key) {
      for (let i = 0; i < this.#steps.length; i++) [this.#steps[i], this.#weights[i]] = [stepOf(i), weightOf(i)];
      this.#key = key;
    }
    return { counted: this.#counted, steps: this.#steps, weights: this.#weights };
  }
}

/**
 * Mean and variance of clipped residuals, with a variance that is linear in the step of the horizon. Residuals beyond
 * CLIP_DEVIATIONS robust deviations (from the 5 % and 95 % quantiles) count as if they lay there.
 * @param residuals oldest first; NaN if missing
 */
export function calibrateRobust(
  residuals: Float32Array,
  places: ResidualPlaces,
  { floor, columns = new CalibrationColumns() }: RobustOptions,
): Calibration {
  const present = columns.present(residuals);
  const samples = present.length;
  if (samples < 2) return calibrate(residuals);
  const tail = Math.floor(TAIL_SHARE * samples);
  const low = nthSmallest(present, tail, 0);
  const high = nthSmallest(present, samples - 1 - tail, tail);
  const bound = CLIP_DEVIATIONS * Math.max((high - low) / NORMAL_SPREAD, floor);
  const centre = low + (high - low) / 2;
  const [least, most] = [Math.fround(centre - bound), Math.fround(centre + bound)];
  const { counted, steps: stepOf, weights } = columns.rows(residuals.length, places);
  let weight = 0;
  let total = 0;
  for (let i = 0; i < residuals.length; i++) {
    const bounded = clipped(residuals[i], least, most);
    counted[i] = bounded;
    if (Number.isNaN(bounded)) continue;
    weight += weights[i];
    total += weights[i] * bounded;
  }
  const mean = total / weight;
  let squares = 0;
  let steps = 0;
  let stepSquares = 0;
  let squaresBySteps = 0;
  for (let i = 0; i < residuals.length; i++) {
    if (Number.isNaN(counted[i])) continue;
    const step = stepOf[i];
    const w = weights[i];
    const distance = counted[i] - mean;
    const square = w * distance * distance;
    squares += square;
    steps += w * step;
    stepSquares += w * step * step;
    squaresBySteps += step * square;
  }
  const sums = { samples, weight, mean, squares, steps, stepSquares, squaresBySteps };
  return { samples, mean, ...varianceAlongHorizon(sums) };
}

function clipped(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/**
 * Weighted least squares of squared distances from the mean on the step of the horizon, kept positive at both ends.
 * What errors of late steps have more than those of early ones they share along a horizon: there are as many samples of
 * it as horizons.
 */
function varianceAlongHorizon(sums: ResidualSums): Pick<Calibration, 'variance' | 'growth'> {
  const { samples, weight, squares, steps, stepSquares, squaresBySteps } = sums;
  const pooled = (squares / weight) * (samples / (samples - 1));
  const meanStep = steps / weight;
  const stepVariance = stepSquares / weight - meanStep * meanStep;
  if (!(stepVariance > 1e-9 && pooled > Number.MIN_VALUE)) return { variance: pooled, growth: 0 };
  const fitted = ((squaresBySteps / weight) * (samples / (samples - 1)) - meanStep * pooled) / stepVariance;
  const least = VARIANCE_SHARE_MIN * pooled;
  // Steps are nearly uniform from 0: the last one lies as far above their mean as the first one below it.
  const steepest = (pooled - least) / meanStep;
  const growth = clipped(fitted, -steepest, steepest);
  const horizons = Math.max(HORIZONS_MIN, samples / (2 * meanStep + 1));
  return {
    variance: pooled - growth * meanStep,
    growth: growth > 0 ? growth * enlargement(horizons) : growth,
  };
}

/**
 * The factor of a variance from n samples at which 99 % of normal errors are within the quantiles of a normal
 * distribution: the squared ratio of the quantiles of Student's t and of the normal distribution (the first terms of
 * Cornish and Fisher 1937), and the variance of the mean.
 */
function enlargement(n: number): number {
  const ratio = 1 + (SQUARE_99 + 1) / (4 * n) + (5 * SQUARE_99 ** 2 + 16 * SQUARE_99 + 3) / (96 * n * n);
  return ratio * ratio * (1 + 1 / n);
}
