import { type BatchShape, fillBatch, scaleOf, type TuningBatch } from './batch.ts';
import { type CutoffRange, drawWindows, planWindows, type TuningWindow, type WindowPlan } from './windows.ts';

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
  /** Steps that these weights learnt in; 0: they are those it began with, since none did better on what was held back. */
  readonly step: number;
  /** How far they went towards what was learnt: 0, a quarter, a half or 1. */
  readonly share: number;
  /** Mean loss of the trial over what was held back, before, and half way (or the whole way, where they go so far); null where nothing could be held back. */
  readonly validation: { readonly before: number; readonly after: number } | null;
}

export interface TuningRun {
  /** Numbers in [0, 1). */
  chance(): number;
  readonly signal: AbortSignal;
  /** Told of each step of those that were asked for as that part of the work is done. */
  progress(step: number): void;
}

/** Batches that one step learns from, one update each. */
export const UPDATES_PER_STEP = 8;
/** The trial takes this share of the steps, at least so many, and looks so often at what is held back. */
const TRIAL_SHARE = 0.25;
const TRIAL_STEPS_MIN = 5;
const LOOKS = 5;
/** Batches of windows that are held back. */
const VALIDATION_BATCHES = 2;
/** Weights are averaged over some ten updates: those of a single one swing by what its batch happened to hold. */
const AVERAGE_DECAY = 0.9;
/** Mean gains over the windows that are held back, in standard errors, that are sure: half way over where it began, and the whole way over half of it. */
const SURE = 2;
const SURE_OF_WHOLE = 3;
/** The rate rises over so many updates, since Adam knows nothing at first, and falls to this share at the end. */
const WARM_UP = 24;
const RATE_LAST = 0.1;

/**
 * Tunes theta to the series, in two rounds. A trial learns without the last values and is judged by them. Then all values teach, for as many steps as
 * did best in the trial, and the weights go towards what was learnt as far as the trial was sure of: a quarter of the way where it helped, half of it
 * where that was sure, and the whole way where that was surely better still. A model of millions of examples that learns from hundreds soon learns
 * these by heart; between the two ends it forecasts better than at either (WiSE-FT, Wortsman et al., 2022). Without enough to hold back there is no
 * trial, and weights go half way.
 * Deterministic: the same task, weights and chance make the same weights.
 */
export async function tune(task: TuningTask, base: Float32Array, graph: StepGraph, run: TuningRun): Promise<Tuned> {
  const { batch: rows, horizon: horizonMax } = graph.shape;
  const scales = task.series.map(scaleOf);
  const lengths = task.series.map((values, i) => (scales[i].deviation > 0 ? values.length : 0));
  const plan = planWindows(lengths, Math.min(task.horizon, horizonMax), VALIDATION_BATCHES * rows);
  if (plan.training.length === 0 || task.steps === 0) return { theta: base, step: 0, share: 0, validation: null };
  const batchOf = (windows: readonly TuningWindow[]) =>
    fillBatch(windows, task.series, scales, graph.shape, (row) => task.contexts[row % task.contexts.length]);
  const judge = judgeOf(plan, graph, batchOf);
  const before = await judge(base);
  const trialSteps = Math.min(task.steps, Math.max(TRIAL_STEPS_MIN, Math.ceil(task.steps * TRIAL_SHARE)));
  const worked = progressOf(task.steps, task.steps + (before.length === 0 ? 0 : trialSteps), run);
  const learn = (ranges: readonly CutoffRange[], steps: number) =>
    learnt(ranges, { ...task, steps }, base, graph, batchOf, { ...run, progress: () => worked() });

  const trial: Trial =
    before.length === 0
      ? { step: trialSteps, share: 0.5, after: before }
      : await tryOut(learn(plan.training, trialSteps), trialSteps, base, before, judge);
  let [theta, step] = [base, 0];
  if (trial.share > 0) {
    const steps = Math.round((task.steps * trial.step) / trialSteps);
    for await (const lesson of learn(plan.all, steps))
      if (lesson.step === steps) theta = between(base, lesson.average, trial.share);
    if (theta.every(Number.isFinite)) step = steps;
  }
  worked(task.steps + trialSteps);
  const validation = before.length === 0 ? null : { before: mean(before), after: mean(trial.after) };
  return step === 0 ? { theta: base, step, share: 0, validation } : { theta, step, share: trial.share, validation };
}

/** How far to go. */
interface Trial {
  /** The best one; without any that helped, nothing of this counts but the share, 0. */
  readonly step: number;
  readonly share: number;
  /** Losses over the windows that are held back. */
  readonly after: readonly number[];
}

async function tryOut(
  lessons: AsyncIterable<Lesson>,
  steps: number,
  base: Float32Array,
  before: readonly number[],
  judge: (theta: Float32Array) => Promise<number[]>,
): Promise<Trial> {
  const every = Math.max(1, Math.floor(steps / LOOKS));
  let best: { step: number; gain: Gain; half: number[]; whole: number[] } | null = null;
  for await (const { step, average } of lessons) {
    if (step % every !== 0 && step !== steps) continue;
    const half = await judge(between(base, average, 0.5));
    const gain = gainOf(before, half);
    if (gain.mean > (best?.gain.mean ?? 0)) best = { step, gain, half, whole: await judge(average) };
  }
  if (best === null) return { step: steps, share: 0, after: before };
  const { step, gain, half, whole } = best;
  if (gain.mean <= SURE * gain.error) return { step, share: 0.25, after: half };
  const further = gainOf(half, whole);
  const all = further.mean > 0 && further.mean > SURE_OF_WHOLE * further.error;
  return all ? { step, share: 1, after: whole } : { step, share: 0.5, after: half };
}

/** What weights are after a step. */
interface Lesson {
  /** From 1. */
  readonly step: number;
  /** Changes with the next step. */
  readonly average: Float32Array;
}

async function* learnt(
  ranges: readonly CutoffRange[],
  task: TuningTask,
  base: Float32Array,
  graph: StepGraph,
  batchOf: (windows: readonly TuningWindow[]) => TuningBatch,
  run: TuningRun,
): AsyncGenerator<Lesson> {
  const rows = graph.shape.batch;
  let state: TuningState = { theta: base, m: new Float32Array(base.length), v: new Float32Array(base.length) };
  const average = Float32Array.from(base);
  const updates = task.steps * UPDATES_PER_STEP;
  for (let n = 1; n <= updates; n++) {
    run.signal.throwIfAborted();
    const windows = drawWindows(ranges, rows, (n - 1) * rows, run.chance);
    const rate = task.rate * Math.min(1, n / WARM_UP) * (1 - ((1 - RATE_LAST) * (n - 1)) / updates);
    state = await graph.step(state, batchOf(windows), n, rate);
    moveAverage(average, state.theta, Math.min(AVERAGE_DECAY, n / (n + UPDATES_PER_STEP)));
    if (n % UPDATES_PER_STEP !== 0) continue;
    run.progress(n / UPDATES_PER_STEP);
    yield { step: n / UPDATES_PER_STEP, average };
  }
}

/** Tells of `steps` steps while `work` are made. */
function progressOf(steps: number, work: number, run: TuningRun): (made?: number) => void {
  let [made, told] = [0, 0];
  return (more = 1) => {
    made = Math.min(work, made + more);
    while (told < Math.floor((made * steps) / work)) run.progress(++told);
  };
}

function between(base: Float32Array, theta: Float32Array, share: number): Float32Array {
  return theta.map((weight, i) => base[i] + share * (weight - base[i]));
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

interface Gain {
  readonly mean: number;
  /** Standard error of the mean. */
  readonly error: number;
}

/** Gain over all windows, each as a share of its loss, so that windows of large losses do not speak for all; 0 where the mean loss grows or is not finite. */
function gainOf(before: readonly number[], after: readonly number[]): Gain {
  const gains = before.map((loss, i) => (2 * (loss - after[i])) / (Math.abs(loss) + Math.abs(after[i]) || 1));
  const gain = mean(gains);
  const variance = gains.reduce((sum, each) => sum + (each - gain) ** 2, 0) / Math.max(1, gains.length - 1);
  return { mean: mean(after) < mean(before) ? gain : 0, error: Math.sqrt(variance / gains.length) };
}

function moveAverage(average: Float32Array, theta: Float32Array, decay: number): void {
  for (let i = 0; i < average.length; i++) average[i] = decay * average[i] + (1 - decay) * theta[i];
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
