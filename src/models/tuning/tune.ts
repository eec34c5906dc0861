import { fillBatch, scaleOf } from './batch.ts';
import { COEFFICIENT_DEFAULT, type Interpolation, mean, selectInterpolation, validatorOf } from './interpolation.ts';
import { trialStepsOf } from './step-times.ts';
import { interpolateWeights, type StepGraph, trainSteps } from './train-steps.ts';
import { planWindows, type TuningWindow } from './windows.ts';

export interface TuningTask {
  /** Oldest first, NaN if missing. */
  readonly series: readonly Float64Array[];
  /** Forecast horizon the weights are tuned for. */
  readonly horizon: number;
  /** Context lengths the weights are tuned for; several where endpoints use different ones. */
  readonly contexts: readonly number[];
  readonly steps: number;
  /** Peak learning rate of Adam. */
  readonly rate: number;
}

export interface Tuned {
  readonly theta: Float32Array;
  /** Train steps behind these weights; 0: the initial weights, because the trial lost significantly. */
  readonly step: number;
  /** Interpolation coefficient between the initial weights and the trained ones: 0, 0.25, 0.5 or 1. */
  readonly coefficient: number;
  /**
   * Mean validation loss of the trial, of the initial and of the interpolated weights; null if the series are too
   * short for validation.
   */
  readonly validation: { readonly before: number; readonly after: number } | null;
}

export interface TuningRun {
  /** Initial weights. */
  readonly base: Float32Array;
  readonly graph: StepGraph;
  /** Random numbers in [0, 1). */
  random(): number;
  readonly signal: AbortSignal;
  /** Called with the number of steps done, out of `steps`, in proportion to all the work. */
  progress(step: number): void;
}

/** Size of the validation set, batches. */
const VALIDATION_BATCHES = 2;

/**
 * Tunes theta to the series in two rounds. The trial trains without the last values and is validated on them. The
 * second round trains on all values, for as many steps in proportion as the trial selected. The result interpolates
 * between the initial and the trained weights with the trial's coefficient, or COEFFICIENT_DEFAULT without a trial. A
 * model of a million weights overfits to hundreds of observations; between the two ends it forecasts better than at
 * either (WiSE-FT, Wortsman et al., 2022). Deterministic: the same task, weights and random numbers give the same
 * weights.
 */
export async function tune(task: TuningTask, { base, graph, random, signal, progress }: TuningRun): Promise<Tuned> {
  const { shape } = graph;
  const scales = task.series.map(scaleOf);
  const lengths = task.series.map((values, i) => (scales[i].deviation > 0 ? values.length : 0));
  const plan = planWindows(lengths, Math.min(task.horizon, shape.horizon), VALIDATION_BATCHES * shape.batch);
  if (plan.training.length === 0 || task.steps === 0) return { theta: base, step: 0, coefficient: 0, validation: null };
  const contextOf = (row: number) => task.contexts[row % task.contexts.length];
  const batchOf = (windows: readonly TuningWindow[]) =>
    fillBatch(windows, { series: task.series, scales, shape, contextOf });
  const settings = { base, graph, rate: task.rate, batchOf, random, signal };
  const validate = validatorOf(plan.validation, graph, batchOf);
  const before = await validate(base);
  const trialSteps = trialStepsOf(task.steps);
  const validated = before.length > 0;
  const counted = stepCounter(task.steps, task.steps + (validated ? trialSteps : 0), progress);

  const trained = () => counted(trainSteps(plan.training, trialSteps, settings));
  const selected: Interpolation = validated
    ? await selectInterpolation({ trained: trained(), steps: trialSteps, base, before, validate })
    : { step: trialSteps, coefficient: COEFFICIENT_DEFAULT, after: before };
  const { coefficient } = selected;
  const steps = coefficient === 0 ? 0 : Math.round((task.steps * selected.step) / trialSteps);
  let theta = base;
  for await (const { step, average } of counted(trainSteps(plan.all, steps, settings)))
    if (step === steps) theta = interpolateWeights(base, average, coefficient);
  progress(task.steps);
  const validation = validated ? { before: mean(before), after: mean(selected.after) } : null;
  const changed = theta !== base && theta.every(Number.isFinite);
  return changed
    ? { theta, step: steps, coefficient, validation }
    : { theta: base, step: 0, coefficient: 0, validation };
}

/** Reports `steps` steps, except the last, while `work` train steps pass. */
function stepCounter(steps: number, work: number, report: (step: number) => void) {
  let [made, reported] = [0, 0];
  return async function* <T>(trained: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const step of trained) {
      made += 1;
      while (reported < steps - 1 && reported < Math.floor((made * steps) / work)) report(++reported);
      yield step;
    }
  };
}
