import { type BatchShape, fillBatch, scaleOf, type TuningBatch } from './batch.ts';
import { drawWindows, planWindows, type TuningWindow } from './windows.ts';

/** What is asked of a tuning. */
export interface TuningTask {
  /** Oldest first, NaN where missing. */
  readonly series: readonly Float64Array[];
  /** Steps ahead that the forecasts will be asked for. */
  readonly horizon: number;
  /** Values before a cutoff that the forecasts will see: several where they differ by endpoint. */
  readonly contexts: readonly number[];
  readonly steps: number;
  /** Of Adam, at the first step. */
  readonly rate: number;
}

/** Theta and what Adam remembers of it. */
export interface TuningState {
  readonly theta: Float32Array;
  readonly m: Float32Array;
  readonly v: Float32Array;
}

/** The train step of one loss and depth. */
export interface StepGraph {
  readonly shape: BatchShape;
  /** One step, the `n`th, counted from 1. */
  step(state: TuningState, batch: TuningBatch, n: number, rate: number): Promise<{ state: TuningState; loss: number }>;
  /** The loss alone. */
  loss(theta: Float32Array, batch: TuningBatch): Promise<number>;
}

export interface Tuned {
  readonly theta: Float32Array;
  /** The step whose weights these are; 0: those it began with, since none did better on what was held back. */
  readonly step: number;
  /** Losses over what was held back, before and after; null where nothing could be held back. */
  readonly validation: { readonly before: number; readonly after: number } | null;
}

/** Times that a tuning looks at what it held back. */
const LOOKS = 10;
/** Batches of windows that are held back. */
const VALIDATION_BATCHES = 2;
/** What was held back must be better by this share, or the weights stay: less is chance. */
const GAIN_MIN = 0.01;
/** The rate falls to this share. */
const RATE_LAST = 0.1;

/**
 * Tunes theta to the series, and gives the weights that did best on what was held back; without anything held back those of the last step.
 * Deterministic: the same task, weights and chance make the same weights.
 * @param chance numbers in [0, 1)
 * @param progress told after each step
 */
export async function tune(
  task: TuningTask,
  base: Float32Array,
  graph: StepGraph,
  chance: () => number,
  { signal, progress }: { readonly signal: AbortSignal; progress(step: number): void },
): Promise<Tuned> {
  const { series, steps, contexts } = task;
  const { batch: rows, horizon: horizonMax } = graph.shape;
  const scales = series.map(scaleOf);
  const lengths = series.map((values, i) => (scales[i]!.deviation > 0 ? values.length : 0));
  const plan = planWindows(lengths, Math.min(task.horizon, horizonMax), VALIDATION_BATCHES * rows);
  const fill = (windows: readonly TuningWindow[]) =>
    fillBatch(windows, series, scales, graph.shape, (row) => contexts[row % contexts.length]!);
  const held = chunks(plan.validation, rows).map((windows) => ({ windows: windows.length, batch: fill(windows) }));
  const judge = async (theta: Float32Array) => {
    let sum = 0;
    for (const { windows, batch } of held) sum += windows * (await graph.loss(theta, batch));
    return sum / plan.validation.length;
  };
  if (plan.training.length === 0 || steps === 0) return { theta: base, step: 0, validation: null };
  const before = held.length > 0 ? await judge(base) : Number.NaN;
  let best: Tuned = { theta: base, step: 0, validation: held.length > 0 ? { before, after: before } : null };
  let state: TuningState = { theta: base, m: new Float32Array(base.length), v: new Float32Array(base.length) };
  const look = Math.max(1, Math.floor(steps / LOOKS));
  for (let n = 1; n <= steps; n++) {
    signal.throwIfAborted();
    const windows = drawWindows(plan.training, rows, (n - 1) * rows, chance);
    const rate = task.rate * (1 - ((1 - RATE_LAST) * (n - 1)) / steps);
    ({ state } = await graph.step(state, fill(windows), n, rate));
    progress(n);
    if (n % look !== 0 && n !== steps) continue;
    if (best.validation === null) {
      best = { theta: state.theta, step: n, validation: null };
      continue;
    }
    const after = await judge(state.theta);
    if (after < best.validation.after - GAIN_MIN * before) best = { theta: state.theta, step: n, validation: { before, after } };
  }
  return best;
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => [...items.slice(i * size, (i + 1) * size)]);
}
