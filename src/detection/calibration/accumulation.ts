import { type Calibration, calibrate, deviationAt, type ResidualPlaces } from './calibration.ts';
import { standardScore, type Yardstick } from './threshold.ts';

/**
 * One number for all series of a group at one time step:
 *
 *   a = cbrt(mean over members of z^2),     z = standardised residual of a member; members without one do not count
 *
 * The cube root of a (scaled) chi-square is close to normal (Wilson and Hilferty 1931, PNAS 17), so mean and deviation
 * of `a` over earlier steps describe "normal" whatever the correlation between members, and (a - mean) / deviation has
 * a one-sided normal threshold.
 * @param scores z of each member, NaN if it has none
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
 * The accumulated score of a time step: `a` standardised, or what its most unusual member shows, if that is more. Many
 * normal members must not dilute one that is not. Of M normal members the largest |z| is above x with a probability of
 * about 2 M (1 - Phi(x)), as a standard normal variable is above sqrt(x^2 - 2 ln 2M) (leading term of Mills' ratio).
 * @param accumulation mean and variance of `a` on earlier steps
 */
export function accumulatedScore(scores: ArrayLike<number>, accumulation: Calibration): number {
  const together = standardScore(accumulate(scores), accumulation.mean, deviationAt(accumulation, 0, 0));
  if (Number.isNaN(together)) return together;
  let members = 0;
  let largest = 0;
  for (let i = 0; i < scores.length; i++) {
    if (Number.isNaN(scores[i])) continue;
    members++;
    largest = Math.max(largest, Math.abs(scores[i]));
  }
  return Math.max(together, Math.sqrt(Math.max(0, largest * largest - 2 * Math.log(2 * members))));
}

/** Residuals of one member with what they are measured by. */
export interface MemberResiduals {
  /** Aligned by time step with those of the other members; NaN if missing. */
  readonly residuals: Float32Array;
  readonly places: ResidualPlaces;
  readonly yardstick: Yardstick;
}

/** Calibrates `a` on the residuals that calibrate the members. */
export function calibrateAccumulation(members: readonly MemberResiduals[]): Calibration {
  const steps = members[0]?.residuals.length ?? 0;
  const accumulated = new Float64Array(steps);
  const scores = new Float64Array(members.length);
  for (let i = 0; i < steps; i++) {
    for (const [member, { residuals, places, yardstick }] of members.entries()) {
      const { calibration, floor } = yardstick;
      const deviation = deviationAt(calibration, places.stepOf(i), floor);
      scores[member] = standardScore(residuals[i], calibration.mean, deviation);
    }
    accumulated[i] = accumulate(scores);
  }
  return calibrate(accumulated);
}
