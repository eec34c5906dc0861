import type { ResidualSums } from '../detection/calibration/calibration.ts';
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
