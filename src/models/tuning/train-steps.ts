import type { BatchShape, TuningBatch } from './batch.ts';
import { type CutoffRange, drawWindows, type TuningWindow } from './windows.ts';

/** Theta and the moments of Adam. */
export interface TuningState {
  readonly theta: Float32Array;
  readonly m: Float32Array;
  readonly v: Float32Array;
}

/** The graph of one update, for one loss and depth. */
export interface StepGraph {
  readonly shape: BatchShape;
  /** True if the loss accepts negative values, so that negated windows are valid training data. */
  readonly signSymmetric: boolean;
  /** One update, the `n`th, counted from 1. */
  step(
    state: TuningState,
    batch: TuningBatch,
    update: { readonly n: number; readonly rate: number },
  ): Promise<TuningState>;
  /** The loss of each row; 0 for an empty row. */
  rowLosses(theta: Float32Array, batch: TuningBatch): Promise<Float32Array>;
}

/** Batches of one train step, with one update each. */
export const UPDATES_PER_STEP = 8;
/**
 * Decay of the exponential moving average of the weights, about ten updates. Weights of a single update depend on its
 * batch.
 */
const AVERAGE_DECAY = 0.9;
/** The learning rate warms up over this many updates and decays linearly to this share at the end. */
const WARM_UP = 24;
const RATE_LAST = 0.1;

interface TrainingSettings {
  /** Initial weights. */
  readonly base: Float32Array;
  readonly graph: StepGraph;
  /** Peak learning rate of Adam. */
  readonly rate: number;
  batchOf(windows: readonly TuningWindow[]): TuningBatch;
  /** Random numbers in [0, 1). */
  random(): number;
  readonly signal: AbortSignal;
}

/** The weights after one train step. */
export interface TrainStep {
  /** From 1. */
  readonly step: number;
  /** Moving average of theta. The array is overwritten by the next step. */
  readonly average: Float32Array;
}

/** Trains on windows drawn from `ranges` and yields after every step. Throws the reason of the signal. */
export async function* trainSteps(
  ranges: readonly CutoffRange[],
  steps: number,
  { base, graph, rate, batchOf, random, signal }: TrainingSettings,
): AsyncGenerator<TrainStep> {
  const count = graph.shape.batch;
  const { signSymmetric } = graph;
  let state: TuningState = { theta: base, m: new Float32Array(base.length), v: new Float32Array(base.length) };
  const average = Float32Array.from(base);
  const updates = steps * UPDATES_PER_STEP;
  for (let n = 1; n <= updates; n++) {
    signal.throwIfAborted();
    const windows = drawWindows(ranges, { count, firstTurn: (n - 1) * count, signSymmetric, random });
    const rateNow = rate * Math.min(1, n / WARM_UP) * (1 - ((1 - RATE_LAST) * (n - 1)) / updates);
    state = await graph.step(state, batchOf(windows), { n, rate: rateNow });
    updateAverage(average, state.theta, Math.min(AVERAGE_DECAY, n / (n + UPDATES_PER_STEP)));
    if (n % UPDATES_PER_STEP === 0) yield { step: n / UPDATES_PER_STEP, average };
  }
}

function updateAverage(average: Float32Array, theta: Float32Array, decay: number): void {
  for (let i = 0; i < average.length; i++) average[i] = decay * average[i] + (1 - decay) * theta[i];
}

/** Linear interpolation of weights: `base` at coefficient 0, `theta` at 1. */
export function interpolateWeights(base: Float32Array, theta: Float32Array, coefficient: number): Float32Array {
  return theta.map((weight, i) => base[i] + coefficient * (weight - base[i]));
}
