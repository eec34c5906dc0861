import type { TuningBatch } from './batch.ts';
import { between, type Lesson, type StepGraph } from './learn.ts';
import type { TuningWindow } from './windows.ts';

/** So often a trial looks at what is held back. */
const LOOKS = 5;
/** A mean gain over the windows that are held back of so many standard errors is no chance. */
const SURE = 2.5;

/** How far to go. */
export interface Trial {
  /** The last step that did as well as the best one, but for a standard error. */
  readonly step: number;
  /** Of the way to what was learnt: 1 where the whole way surely helps and no less than half of it, half where that surely helps, else 0. */
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
  const looks: { readonly step: number; readonly gain: Gain }[] = [];
  let best: { gain: Gain; half: number[]; whole: number[] } | null = null;
  for await (const { step, average } of lessons) {
    if (step % every !== 0 && step !== steps) continue;
    const half = await judge(between(base, average, 0.5));
    const gain = gainOf(before, half);
    looks.push({ step, gain });
    if (gain.mean > (best?.gain.mean ?? 0)) best = { gain, half, whole: await judge(average) };
  }
  if (best === null) return { step: steps, share: 0, after: before };
  const { gain, half, whole } = best;
  const { step } = looks.findLast((look) => look.gain.mean >= gain.mean - gain.error)!;
  const all = gainOf(before, whole);
  if (isSure(all) && all.mean >= gain.mean) return { step, share: 1, after: whole };
  return isSure(gain) ? { step, share: 0.5, after: half } : { step: steps, share: 0, after: before };
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

/** Gain over all windows, each as a share of its loss, so that windows of large losses do not speak for all; 0 where the mean loss grows or is not finite. */
function gainOf(before: readonly number[], after: readonly number[]): Gain {
  const gains = before.map((loss, i) => (2 * (loss - after[i])) / (Math.abs(loss) + Math.abs(after[i]) || 1));
  const gain = mean(gains);
  const variance = gains.reduce((sum, each) => sum + (each - gain) ** 2, 0) / Math.max(1, gains.length - 1);
  return { mean: mean(after) < mean(before) ? gain : 0, error: Math.sqrt(variance / gains.length) };
}

export function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
