import { type Calibration, NO_RESIDUALS, type ResidualSums } from './calibration.ts';
import { layout } from './layout.ts';

/** A calibration as it is kept next to the scalars of a series. */
export const CALIBRATION_STATE = layout({ samples: 1, mean: 1, variance: 1, growth: 1 });
const { samples: SAMPLES, mean: MEAN, variance: VARIANCE, growth: GROWTH } = CALIBRATION_STATE.at;

export function keepCalibration(
  state: Float64Array,
  start: number,
  { samples, mean, variance, growth }: Calibration,
): void {
  state[start + SAMPLES] = samples;
  state[start + MEAN] = mean;
  state[start + VARIANCE] = variance;
  state[start + GROWTH] = growth;
}

export function keptCalibration(state: Float64Array, start: number): Calibration {
  return {
    samples: state[start + SAMPLES],
    mean: state[start + MEAN],
    variance: state[start + VARIANCE],
    growth: state[start + GROWTH],
  };
}

/** The sums as they are kept next to the scalars of a series. */
export const RESIDUAL_SUMS = layout({
  samples: 1,
  weight: 1,
  mean: 1,
  squares: 1,
  steps: 1,
  stepSquares: 1,
  squaresBySteps: 1,
});

const PARTS = Object.keys(RESIDUAL_SUMS.at) as (keyof ResidualSums)[];

export function keepResidualSums(state: Float64Array, start: number, sums: ResidualSums): void {
  for (const part of PARTS) state[start + RESIDUAL_SUMS.at[part]] = sums[part];
}

export function keptResidualSums(state: Float64Array, start: number): ResidualSums {
  const sums: Record<keyof ResidualSums, number> = { ...NO_RESIDUALS };
  for (const part of PARTS) sums[part] = state[start + RESIDUAL_SUMS.at[part]];
  return sums;
}
