import { type BatchShape, fillBatch, scaleOf, type TuningBatch } from './batch.ts';
import { drawWindows, planWindows, type TuningWindow, type WindowPlan } from './windows.ts';

/** What is asked of a tuning. */
export interface TuningTask {
  /** Oldest first, NaN where missing. */
  readonly series: readonly Float64Array[];
  /** Steps ahead that the forecasts will be asked for. */
  readonly horizon: number;
  /** Values before a cutoff that the forecasts will see: several where they differ by endpoint. */
  readonly contexts: readonly number[];
  readonly steps: number;
  /** Of Adam, at the first update. */
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
  /** One update, the `n`th, counted from 1. */
  step(state: TuningState, batch: TuningBatch, n: number, rate: number): Promise<TuningState>;
  /** The loss of each row; 0 for one that is not filled. */
  rowLosses(theta: Float32Array, batch: TuningBatch): Promise<Float32Array>;
}

export interface Tuned {
  readonly theta: Float32Array;
  /** The step whose weights these are; 0: those it began with, since none was surely better on what was held back. */
  readonly step: number;
  /** Mean loss over what was held back, before and after; null where nothing could be held back. */
  readonly validation: { readonly before: number; readonly after: number } | null;
}

export interface TuningRun {
  /** Numbers in [0, 1). */
  chance(): number;
  readonly signal: AbortSignal;
  /** Told after each step. */
  progress(step: number): void;
}

/** Batches that one step learns from, one update each. */
export const UPDATES_PER_STEP = 8;
/** Times that a tuning looks at what it held back. */
const LOOKS = 10;
/** Batches of windows that are held back. */
const VALIDATION_BATCHES = 2;
/** Weights are averaged over some ten updates: those of a single one swing by what its batch happened to hold. */
const AVERAGE_DECAY = 0.9;
/** What was held back must be better by this share, and by so many standard errors, or the weights stay: less is chance. */
const GAIN_MIN = 0.03;
const STANDARD_ERRORS_MIN = 2.5;
/** Weights of earlier steps than half of all, or than these, are not taken: what a few steps gain and more undo is mostly chance. */
const EARLY_STEPS = 15;
/** By so many the whole way must be better than half of it. */
const STANDARD_ERRORS_OF_HALF = 1;
/** The rate rises over so many updates, since Adam knows nothing at first, and falls to this share at the end. */
const WARM_UP = 24;
const RATE_LAST = 0.1;

/**
 * Tunes theta to the series, and gives the weights that did best on what was held back, where they surely did and more steps do not undo it, else
 * those it began with; without anything held back those of the last step.
 * Deterministic: the same task, weights and chance make the same weights.
 */
export async function tune(task: TuningTask, base: Float32Array, graph: StepGraph, run: TuningRun): Promise<Tuned> {
  const { batch: rows, horizon: horizonMax } = graph.shape;
  const scales = task.series.map(scaleOf);
  const lengths = task.series.map((values, i) => (scales[i].deviation > 0 ? values.length : 0));
  const plan = planWindows(lengths, Math.min(task.horizon, horizonMax), VALIDATION_BATCHES * rows);
  if (plan.training.length === 0 || task.steps === 0) return { theta: base, step: 0, validation: null };
  const batchOf = (windows: readonly TuningWindow[]) =>
    fillBatch(windows, task.series, scales, graph.shape, (row) => task.contexts[row % task.contexts.length]);
  const judge = judgeOf(plan, graph, batchOf);
  const before = await judge(base);
  let best = { theta: base, step: 0, gain: 0, after: before };
  let state: TuningState = { theta: base, m: new Float32Array(base.length), v: new Float32Array(base.length) };
  const average = Float32Array.from(base);
  const updates = task.steps * UPDATES_PER_STEP;
  const look = Math.max(1, Math.floor(task.steps / LOOKS));
  for (let n = 1; n <= updates; n++) {
    run.signal.throwIfAborted();
    const windows = drawWindows(plan.training, rows, (n - 1) * rows, run.chance);
    const rate = task.rate * Math.min(1, n / WARM_UP) * (1 - ((1 - RATE_LAST) * (n - 1)) / updates);
    state = await graph.step(state, batchOf(windows), n, rate);
    moveAverage(average, state.theta, Math.min(AVERAGE_DECAY, n / (n + UPDATES_PER_STEP)));
    if (n % UPDATES_PER_STEP !== 0) continue;
    const step = n / UPDATES_PER_STEP;
    run.progress(step);
    if (step % look !== 0 && step !== task.steps) continue;
    const after = await judge(average);
    const untried = average.every(Number.isFinite) ? step : 0;
    const gain = before.length === 0 ? untried : sureGain(before, after, STANDARD_ERRORS_MIN, GAIN_MIN);
    if (gain > best.gain) best = { theta: average.slice(), step, gain, after };
  }
  if (before.length === 0) return { theta: best.theta, step: best.step, validation: null };
  if (best.step < Math.min(task.steps / 2, EARLY_STEPS)) best = { theta: base, step: 0, gain: 0, after: before };
  const { theta, after } = await unlessHalfWay(base, best, judge);
  return { theta, step: best.step, validation: { before: mean(before), after: mean(after) } };
}

interface Judged {
  readonly theta: Float32Array;
  readonly after: readonly number[];
}

/** Weights half way back to those they began with, unless the whole way is surely better: what was learnt from little misleads less by half. */
async function unlessHalfWay(
  base: Float32Array,
  best: Judged,
  judge: (theta: Float32Array) => Promise<number[]>,
): Promise<Judged> {
  if (best.theta === base) return best;
  const theta = best.theta.map((weight, i) => (weight + base[i]) / 2);
  const after = await judge(theta);
  return sureGain(after, best.after, STANDARD_ERRORS_OF_HALF, 0) > 0 ? best : { theta, after };
}

/** Losses of weights over every window that was held back. */
function judgeOf(
  { validation }: WindowPlan,
  graph: StepGraph,
  batchOf: (windows: readonly TuningWindow[]) => TuningBatch,
): (theta: Float32Array) => Promise<number[]> {
  const { batch: rows } = graph.shape;
  const held = Array.from({ length: Math.ceil(validation.length / rows) }, (_, i) => {
    const windows = validation.slice(i * rows, (i + 1) * rows);
    return { count: windows.length, batch: batchOf(windows) };
  });
  return async (theta) => {
    const losses: number[] = [];
    for (const { count, batch } of held) losses.push(...(await graph.rowLosses(theta, batch)).subarray(0, count));
    return losses;
  };
}

/**
 * Mean gain over all windows, each as a share of its loss, so that windows of large losses do not speak for all; 0 where it is too little, may be
 * chance, or is not finite.
 */
function sureGain(before: readonly number[], after: readonly number[], standardErrors: number, least: number): number {
  const gains = before.map((loss, i) => (2 * (loss - after[i])) / (Math.abs(loss) + Math.abs(after[i]) || 1));
  const gain = mean(gains);
  const variance = gains.reduce((sum, each) => sum + (each - gain) ** 2, 0) / Math.max(1, gains.length - 1);
  const sure = gain > standardErrors * Math.sqrt(variance / gains.length);
  return sure && gain > least && mean(after) < mean(before) ? gain : 0;
}

function moveAverage(average: Float32Array, theta: Float32Array, decay: number): void {
  for (let i = 0; i < average.length; i++) average[i] = decay * average[i] + (1 - decay) * theta[i];
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
