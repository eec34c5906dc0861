import type { Calibration, ResidualSums } from './calibration.ts';
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

export function keepResidualSums(state: Float64Array, start: number, sums: ResidualSums): void {
  const { at } = RESIDUAL_SUMS;
  for (const part of Object.keys(at) as (keyof ResidualSums)[]) state[start + at[part]] = sums[part];
}

export function keptResidualSums(state: Float64Array, start: number): ResidualSums {
  const { at } = RESIDUAL_SUMS;
  return {
    samples: state[start + at.samples],
    weight: state[start + at.weight],
    mean: state[start + at.mean],
    squares: state[start + at.squares],
    steps: state[start + at.steps],
    stepSquares: state[start + at.stepSquares],
    squaresBySteps: state[start + at.squaresBySteps],
  };
}
