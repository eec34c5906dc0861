import type { TuningBatch } from './batch.ts';
import { interpolateWeights, type StepGraph, type TrainStep } from './train-steps.ts';
import type { TuningWindow } from './windows.ts';

/** Number of steps of a trial at which the validation loss is evaluated. */
const EVALUATIONS = 5;
/** A mean gain over the validation windows is significant at this many standard errors. */
const STANDARD_ERRORS = 3;
/**
 * Least mean gain at which the coefficient is 1: the loss falls to three fifths. With a smaller gain the last part of
 * it is overfit.
 */
const FULL_GAIN_MIN = 0.5;
/** Coefficient where the gain is not significant. On real series it improves more forecasts than it degrades. */
export const COEFFICIENT_DEFAULT = 0.25;

/** The step and the interpolation coefficient that a trial selects. */
export interface Interpolation {
  /** The last step whose gain is within one standard error of the best. */
  readonly step: number;
  /**
   * Between the initial weights (0) and the trained ones (1): 1 where that gains at least FULL_GAIN_MIN, 0.5 where that
   * gain is significant, 0 where COEFFICIENT_DEFAULT loses significantly, else COEFFICIENT_DEFAULT.
   */
  readonly coefficient: number;
  /** Losses of the interpolated weights on the validation windows. */
  readonly after: readonly number[];
}

/** Losses of weights on every validation window. */
type Validator = (theta: Float32Array) => Promise<number[]>;

interface InterpolationTrial {
  /** Train steps that used no validation values. */
  readonly trained: AsyncIterable<TrainStep>;
  readonly steps: number;
  /** Initial weights. */
  readonly base: Float32Array;
  /** Validation losses of `base`, at least one. */
  readonly before: readonly number[];
  readonly validate: Validator;
}

/** Selects the step and the coefficient by the losses on the validation windows. */
export async function selectInterpolation(trial: InterpolationTrial): Promise<Interpolation> {
  const { trained, steps, base, before, validate } = trial;
  const every = Math.max(1, Math.floor(steps / EVALUATIONS));
  const evaluate = async (average: Float32Array, coefficient: number): Promise<Candidate> => {
    const after = await validate(interpolateWeights(base, average, coefficient));
    return { coefficient, after, gain: gainOf(before, after) };
  };
  const evaluations: { readonly step: number; readonly average: Float32Array; readonly half: Candidate }[] = [];
  for await (const { step, average } of trained) {
    if (step % every !== 0 && step !== steps) continue;
    evaluations.push({ step, average: average.slice(), half: await evaluate(average, 0.5) });
  }
  const best = evaluations.reduce((a, b) => (b.half.gain.mean > a.half.gain.mean ? b : a)).half.gain;
  const { step, average, half } = evaluations.findLast(({ half }) => half.gain.mean >= best.mean - best.error)!;
  const full = await evaluate(average, 1);
  if (isSignificantGain(full.gain) && full.gain.mean >= Math.max(FULL_GAIN_MIN, half.gain.mean))
    return { step, ...full };
  if (isSignificantGain(half.gain)) return { step, ...half };
  const quarter = await evaluate(average, COEFFICIENT_DEFAULT);
  return isSignificantLoss(quarter.gain) ? { step: steps, coefficient: 0, after: before } : { step, ...quarter };
}

interface Candidate extends Pick<Interpolation, 'coefficient' | 'after'> {
  readonly gain: Gain;
}

export function validatorOf(
  windows: readonly TuningWindow[],
  graph: StepGraph,
  batchOf: (windows: readonly TuningWindow[]) => TuningBatch,
): Validator {
  const { batch: rows } = graph.shape;
  const batches = Array.from({ length: Math.ceil(windows.length / rows) }, (_, i) => {
    const some = windows.slice(i * rows, (i + 1) * rows);
    return { count: some.length, batch: batchOf(some) };
  });
  return async (theta) => {
    const losses: number[] = [];
    for (const { count, batch } of batches) losses.push(...(await graph.rowLosses(theta, batch)).subarray(0, count));
    return losses;
  };
}

interface Gain {
  readonly mean: number;
  /** Standard error of the mean. */
  readonly error: number;
}

const isSignificantGain = ({ mean: gain, error }: Gain) => gain > 0 && gain > STANDARD_ERRORS * error;
const isSignificantLoss = ({ mean: gain, error }: Gain) => gain < 0 && gain < -STANDARD_ERRORS * error;

/**
 * Mean relative gain over the windows. It is relative to each window's loss, so that windows of large losses do not
 * dominate. At most 0 where the mean loss rises; minus infinity where the mean gain is not finite.
 */
function gainOf(before: readonly number[], after: readonly number[]): Gain {
  const gains = before.map((loss, i) => (2 * (loss - after[i])) / (Math.abs(loss) + Math.abs(after[i]) || 1));
  const gain = mean(gains);
  const variance = gains.reduce((sum, each) => sum + (each - gain) ** 2, 0) / Math.max(1, gains.length - 1);
  if (!Number.isFinite(gain)) return { mean: Number.NEGATIVE_INFINITY, error: 0 };
  return { mean: mean(after) < mean(before) ? gain : Math.min(gain, 0), error: Math.sqrt(variance / gains.length) };
}

export function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
