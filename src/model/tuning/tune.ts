import { fillBatch, scaleOf } from './batch.ts';
import { between, learnt, type StepGraph } from './train-steps.ts';
import { CAUTIOUS_SHARE, judgeOf, mean, type Trial, tryOut } from './tuning-trial.ts';
import { planWindows, type TuningWindow } from './windows.ts';

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

export interface Tuned {
  readonly theta: Float32Array;
  /** Steps that these weights learnt in; 0: they are those it began with, since others surely do worse. */
  readonly step: number;
  /** How far they went towards what was learnt: 0, a quarter, a half or 1. */
  readonly share: number;
  /** Mean loss of the trial over what was held back, before, and so far on the way; null where nothing could be held back. */
  readonly validation: { readonly before: number; readonly after: number } | null;
}

export interface TuningRun {
  /** Numbers in [0, 1). */
  chance(): number;
  readonly signal: AbortSignal;
  /** Told of each step of those that were asked for as that part of the work is done. */
  progress(step: number): void;
}

/** The trial takes this share of the steps, at least so many. */
const TRIAL_SHARE = 0.25;
const TRIAL_STEPS_MIN = 10;
/** Batches of windows that are held back. */
const VALIDATION_BATCHES = 2;

/**
 * Tunes theta to the series, in two rounds. A trial learns without the last values and is judged by them. Then all values teach, for as many steps as
 * did well in the trial, and the weights go towards what was learnt as far as the trial says: the whole way where it gained much, half of it where it
 * surely gained, nowhere where it surely lost, else a quarter, as without enough to hold back for a trial. A model of millions of examples that
 * learns from hundreds soon learns these by heart; between the two ends it forecasts better than at either (WiSE-FT, Wortsman et al., 2022).
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
  const lessons = { base, graph, rate: task.rate, batchOf, chance: run.chance, signal: run.signal };
  const judge = judgeOf(plan.validation, graph, batchOf);
  const before = await judge(base);
  const trialSteps = Math.min(task.steps, Math.max(TRIAL_STEPS_MIN, Math.ceil(task.steps * TRIAL_SHARE)));
  const tried = before.length > 0;
  const counted = stepCounter(task.steps, task.steps + (tried ? trialSteps : 0), run.progress);

  const trial: Trial = tried
    ? await tryOut(counted(learnt(plan.training, trialSteps, lessons)), trialSteps, base, before, judge)
    : { step: trialSteps, share: CAUTIOUS_SHARE, after: before };
  const steps = trial.share === 0 ? 0 : Math.round((task.steps * trial.step) / trialSteps);
  let theta = base;
  for await (const { step, average } of counted(learnt(plan.all, steps, lessons)))
    if (step === steps) theta = between(base, average, trial.share);
  run.progress(task.steps);
  const validation = tried ? { before: mean(before), after: mean(trial.after) } : null;
  const taken = theta !== base && theta.every(Number.isFinite);
  return taken
    ? { theta, step: steps, share: trial.share, validation }
    : { theta: base, step: 0, share: 0, validation };
}

/** Tells of `steps` steps, but the last, while `work` lessons pass. */
function stepCounter(steps: number, work: number, tell: (step: number) => void) {
  let [made, told] = [0, 0];
  return async function* <T>(lessons: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const lesson of lessons) {
      made += 1;
      while (told < steps - 1 && told < Math.floor((made * steps) / work)) tell(++told);
      yield lesson;
    }
  };
}
