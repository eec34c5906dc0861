import { type Calibration, calibrate } from './calibration.ts';
import { standardScore } from './threshold.ts';

/**
 * One score for all series of a group at one time step:
 *
 *   a = cbrt(mean over members of z^2),     z = standardised residual of a member; members without one do not count
 *
 * The cube root of a (scaled) chi-square is close to normal (Wilson and Hilferty 1931, PNAS 17), so mean and deviation
 * of `a` over earlier steps describe "normal" whatever the correlation between members, and (a - mean) / deviation has
 * a one-sided normal threshold.
 * @param scores z of each member, NaN where it has none
 * @returns NaN when no member has a score
 */
export function accumulate(scores: ArrayLike<number>): number {
  let squares = 0;
  let members = 0;
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i];
    if (Number.isNaN(score)) continue;
    squares += score * score;
    members++;
  }
  return members === 0 ? Number.NaN : Math.cbrt(squares / members);
}

/**
 * Calibrates the accumulated score on the residuals that calibrate its members.
 * @param residuals of each member, aligned by time step and equally long; NaN where missing
 * @param calibrations of each member
 */
export function calibrateAccumulation(
  residuals: readonly Float32Array[],
  calibrations: readonly Calibration[],
): Calibration {
  const steps = residuals[0]?.length ?? 0;
  const accumulated = new Float64Array(steps);
  const scores = new Float64Array(residuals.length);
  for (let step = 0; step < steps; step++) {
    for (let member = 0; member < residuals.length; member++) {
      scores[member] = standardScore(residuals[member][step], calibrations[member]);
    }
    accumulated[step] = accumulate(scores);
  }
  return calibrate(accumulated);
}
