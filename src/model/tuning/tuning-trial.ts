import type { TuningBatch } from './batch.ts';
import { between, type Lesson, type StepGraph } from './train-steps.ts';
import type { TuningWindow } from './windows.ts';

/** So often a trial looks at what is held back. */
const LOOKS = 5;
/** A mean gain, or loss, over the windows that are held back of so many standard errors is no chance. */
const SURE = 3;
/**
 * The whole way is taken only where it gains so much, the loss falling to three fifths: unless the series has what the model missed, its last part
 * is noise that was learnt by heart.
 */
const WHOLE_GAIN = 0.5;
/** So far weights go where a trial says little: on real series that helps more often than it harms. */
export const CAUTIOUS_SHARE = 0.25;

/** How far to go. */
export interface Trial {
  /** The last step that did as well as the best one, but for a standard error. */
  readonly step: number;
  /** Of the way to what was learnt: 1 where that gains much, half where that surely helps, nothing where a quarter surely harms, else a quarter. */
  readonly share: number;
  /** Losses over the windows that are held back, so far on the way. */
  readonly after: readonly number[];
}

/** Losses of weights over every window that is held back. */
export type Judge = (theta: Float32Array) => Promise<number[]>;

/**
 * Judges lessons that saw nothing of what is held back.
 * @param before losses of `base`, at least one
 */
export async function tryOut(
  lessons: AsyncIterable<Lesson>,
  steps: number,
  base: Float32Array,
  before: readonly number[],
  judge: Judge,
): Promise<Trial> {
  const every = Math.max(1, Math.floor(steps / LOOKS));
  const goneTo = async (average: Float32Array, share: number): Promise<Way> => {
    const after = await judge(between(base, average, share));
    return { share, after, gain: gainOf(before, after) };
  };
  const looks: { readonly step: number; readonly average: Float32Array; readonly half: Way }[] = [];
  for await (const { step, average } of lessons) {
    if (step % every !== 0 && step !== steps) continue;
    looks.push({ step, average: average.slice(), half: await goneTo(average, 0.5) });
  }
  const best = looks.reduce((a, b) => (b.half.gain.mean > a.half.gain.mean ? b : a)).half.gain;
  const { step, average, half } = looks.findLast((look) => look.half.gain.mean >= best.mean - best.error)!;
  const whole = await goneTo(average, 1);
  if (isSure(whole.gain) && whole.gain.mean >= Math.max(WHOLE_GAIN, half.gain.mean)) return { step, ...whole };
  if (isSure(half.gain)) return { step, ...half };
  const quarter = await goneTo(average, CAUTIOUS_SHARE);
  return isSureLoss(quarter.gain) ? { step: steps, share: 0, after: before } : { step, ...quarter };
}

interface Way extends Pick<Trial, 'share' | 'after'> {
  readonly gain: Gain;
}

export function judgeOf(
  windows: readonly TuningWindow[],
  graph: StepGraph,
  batchOf: (windows: readonly TuningWindow[]) => TuningBatch,
): Judge {
  const { batch: rows } = graph.shape;
  const held = Array.from({ length: Math.ceil(windows.length / rows) }, (_, i) => {
    const some = windows.slice(i * rows, (i + 1) * rows);
    return { count: some.length, batch: batchOf(some) };
  });
  return async (theta) => {
    const losses: number[] = [];
    for (const { count, batch } of held) losses.push(...(await graph.rowLosses(theta, batch)).subarray(0, count));
    return losses;
  };
}

interface Gain {
  readonly mean: number;
  /** Standard error of the mean. */
  readonly error: number;
}

const isSure = ({ mean: gain, error }: Gain) => gain > 0 && gain > SURE * error;
const isSureLoss = ({ mean: gain, error }: Gain) => gain < 0 && gain < -SURE * error;

/**
 * Gain over all windows, each as a share of its loss, so that windows of large losses do not speak for all; at most 0 where the mean loss grows,
 * without bound where it is not finite.
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
