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
/** By so many the whole way must be better than half of it. */
const STANDARD_ERRORS_OF_WHOLE = 3;
/** The rate rises over so many updates, since Adam knows nothing at first, and falls to this share at the end. */
const WARM_UP = 24;
const RATE_LAST = 0.1;

/**
 * Tunes theta to the series. Weights are averaged over updates and taken half way from those it began with: a model of millions of examples
 * that learns from hundreds soon learns these by heart, and half of what it learnt misleads less and helps more than all (WiSE-FT, Wortsman et al.,
 * 2022). Of all looks at what was held back that counts which is best half way, where it is surely better than before; the whole way is taken
 * where that is surely better still. Without anything held back half way to the last step.
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
  let [half, whole]: Look[] = Array(2).fill({ step: 0, theta: base, gain: 0, losses: before });
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
    if ((step % look !== 0 && step !== task.steps) || !average.every(Number.isFinite)) continue;
    const halved = average.map((weight, i) => (weight + base[i]) / 2);
    half = better(half, { step, theta: halved, losses: await judge(halved) }, before);
    if (half.step > 0) whole = better(whole, { step, theta: average.slice(), losses: await judge(average) }, before);
  }
  const further = sureGain(half.losses, whole.losses, STANDARD_ERRORS_OF_WHOLE, 0) > 0;
  const { step, theta, losses } = further ? whole : half;
  const validation = losses.length === 0 ? null : { before: mean(before), after: mean(losses) };
  return { theta, step, validation };
}

/** Weights of a step, and what they lose. */
interface Look {
  readonly step: number;
  readonly theta: Float32Array;
  readonly losses: readonly number[];
  /** Over the weights that the tuning began with. */
  readonly gain: number;
}

/** Which of two looks gains more; where nothing was held back, the later one. */
function better(best: Look, look: Omit<Look, 'gain'>, before: readonly number[]): Look {
  const gain = before.length === 0 ? look.step : sureGain(before, look.losses, STANDARD_ERRORS_MIN, GAIN_MIN);
  return gain > best.gain ? { ...look, gain } : best;
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
