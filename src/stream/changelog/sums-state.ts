import type { ResidualSums } from '../../detector/calibration/calibration.ts';
import type { DetectionSettings } from '../../detector/calibration/settings.ts';
import type { StateReader, StateWriter } from './state-bytes.ts';

export function writeSums(writer: StateWriter, sums: ResidualSums): void {
  writer.f64(sums.samples);
  writer.f64(sums.weight);
  writer.f64(sums.mean);
  writer.f64(sums.squares);
  writer.f64(sums.steps);
  writer.f64(sums.stepSquares);
  writer.f64(sums.squaresBySteps);
}

export function readSums(reader: StateReader): ResidualSums {
  return {
    samples: reader.f64(),
    weight: reader.f64(),
    mean: reader.f64(),
    squares: reader.f64(),
    steps: reader.f64(),
    stepSquares: reader.f64(),
    squaresBySteps: reader.f64(),
  };
}

/** Format 1 has no sums over the steps of the horizon: every step counts with the pooled variance. */
export function readSums1(reader: StateReader, { h, stepSize }: DetectionSettings): ResidualSums {
  const [samples, mean, squares] = [reader.f64(), reader.f64(), reader.f64()];
  const last = Math.min(h, stepSize) - 1;
  return {
    samples,
    weight: samples,
    mean,
    squares,
    steps: (samples * last) / 2,
    stepSquares: (samples * last * (2 * last + 1)) / 6,
    squaresBySteps: (squares * last) / 2,
  };
}
