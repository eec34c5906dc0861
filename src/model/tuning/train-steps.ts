import type { BatchShape, TuningBatch } from './batch.ts';
import { type CutoffRange, drawWindows, type TuningWindow } from './windows.ts';

/** Theta and what Adam remembers of it. */
export interface TuningState {
  readonly theta: Float32Array;
  readonly m: Float32Array;
  readonly v: Float32Array;
}

/** The train step of one loss and depth. */
export interface StepGraph {
  readonly shape: BatchShape;
  /** Whether the loss knows negative values, so that a series teaches as much upside down. */
  readonly turnable: boolean;
  /** One update, the `n`th, counted from 1. */
  step(state: TuningState, batch: TuningBatch, n: number, rate: number): Promise<TuningState>;
  /** The loss of each row; 0 for one that is not filled. */
  rowLosses(theta: Float32Array, batch: TuningBatch): Promise<Float32Array>;
}

/** Batches that one step learns from, one update each. */
export const UPDATES_PER_STEP = 8;
/** Weights are averaged over some ten updates: those of a single one swing by what its batch happened to hold. */
const AVERAGE_DECAY = 0.9;
/** The rate rises over so many updates, since Adam knows nothing at first, and falls to this share at the end. */
const WARM_UP = 24;
const RATE_LAST = 0.1;

/** What learning needs beside the windows. */
export interface Lessons {
  /** Weights to begin with. */
  readonly base: Float32Array;
  readonly graph: StepGraph;
  /** Of Adam, at the first update. */
  readonly rate: number;
  batchOf(windows: readonly TuningWindow[]): TuningBatch;
  /** Numbers in [0, 1). */
  chance(): number;
  readonly signal: AbortSignal;
}

/** What weights are after a step. */
export interface Lesson {
  /** From 1. */
  readonly step: number;
  /** Averaged over updates; changes with the next step. */
  readonly average: Float32Array;
}

/** Learns from windows drawn of `ranges`, step by step; throws the reason of the signal. */
export async function* learnt(
  ranges: readonly CutoffRange[],
  steps: number,
  { base, graph, rate, batchOf, chance, signal }: Lessons,
): AsyncGenerator<Lesson> {
  const rows = graph.shape.batch;
  let state: TuningState = { theta: base, m: new Float32Array(base.length), v: new Float32Array(base.length) };
  const average = Float32Array.from(base);
  const updates = steps * UPDATES_PER_STEP;
  for (let n = 1; n <= updates; n++) {
    signal.throwIfAborted();
    const windows = drawWindows(ranges, rows, (n - 1) * rows, graph.turnable, chance);
    const rateNow = rate * Math.min(1, n / WARM_UP) * (1 - ((1 - RATE_LAST) * (n - 1)) / updates);
    state = await graph.step(state, batchOf(windows), n, rateNow);
    moveAverage(average, state.theta, Math.min(AVERAGE_DECAY, n / (n + UPDATES_PER_STEP)));
    if (n % UPDATES_PER_STEP === 0) yield { step: n / UPDATES_PER_STEP, average };
  }
}

function moveAverage(average: Float32Array, theta: Float32Array, decay: number): void {
  for (let i = 0; i < average.length; i++) average[i] = decay * average[i] + (1 - decay) * theta[i];
}

/** Weights this share of the way from `base` to `theta`. */
export function between(base: Float32Array, theta: Float32Array, share: number): Float32Array {
  return theta.map((weight, i) => base[i] + share * (weight - base[i]));
}
