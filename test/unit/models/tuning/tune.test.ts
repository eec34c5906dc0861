import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type StepGraph, UPDATES_PER_STEP } from '../../../../src/models/tuning/train-steps.ts';
import { type TuningTask, tune } from '../../../../src/models/tuning/tune.ts';

/** A model of one weight that is trained towards `goal`. Its validation loss is its distance from `truth`. */
function graphOf({ goal, truth }: { goal: number; truth: number }): StepGraph {
  return {
    shape: { batch: 4, context: 32, horizon: 8 },
    signSymmetric: true,
    async step({ theta, m, v }) {
      return { theta: theta.map((weight) => weight + (goal - weight) / 40), m, v };
    },
    rowLosses: async (theta) => new Float32Array(4).fill(Math.abs(theta[0] - truth)),
  };
}

const wave = Float64Array.from({ length: 200 }, (_, t) => Math.sin(t / 3));
const task: TuningTask = { series: [wave], horizon: 8, contexts: [32], steps: 10, rate: 1 };
const base = Float32Array.of(0);

function run(graph: StepGraph, changes: Partial<TuningTask> = {}, signal = new AbortController().signal) {
  const steps: number[] = [];
  const progress = (step: number) => steps.push(step);
  return tune({ ...task, ...changes }, { base, graph, random: () => 0.5, signal, progress }).then((tuned) => {
    return { ...tuned, steps };
  });
}

test('a loss that falls below three fifths gives the coefficient 1, and every step is reported', async () => {
  const { theta, step, coefficient, validation, steps } = await run(graphOf({ goal: 1, truth: 1 }));
  assert.deepEqual([step, coefficient], [10, 1]);
  assert.ok(theta[0] > 0.8);
  assert.equal(validation!.before, 1);
  assert.ok(validation!.after < 0.6);
  const expected = Array.from({ length: 10 }, (_, i) => i + 1);
  assert.deepEqual(steps, expected);
});

test('weights with a significantly larger loss are rolled back', async () => {
  const { theta, step, validation } = await run(graphOf({ goal: 1, truth: 0 }));
  assert.equal(theta, base);
  assert.equal(step, 0);
  assert.deepEqual(validation, { before: 0, after: 0 });
});

test('where the loss falls and then rises, training ends at the step of least loss', async () => {
  const { step, coefficient, steps } = await run(graphOf({ goal: 1, truth: 0.15 }));
  assert.ok(step > 0 && step < 10, `step ${step}`);
  assert.equal(coefficient, 0.5);
  assert.equal(steps.at(-1), 10, 'the remaining steps are reported as done');
});

test('the last step within one standard error of the best gain is selected', async () => {
  const graph = graphOf({ goal: 1, truth: 1 });
  const goals = [0.14, 0.26, 0.3, 0.36];
  const uneven: StepGraph = {
    ...graph,
    rowLosses: async ([weight]) => Float32Array.from(goals, (goal) => Math.abs(weight - goal)),
  };
  const { step, coefficient } = await run(uneven);
  // Gains at coefficient 0.5, by step: 2 0.93, 4 1.18 with an error of 0.24, 6 1.05, 8 0.79, 10 0.55.
  assert.deepEqual([step, coefficient], [6, 0.5]);
});

test('weights that gain at coefficient 0.5 and lose at 1 get 0.5', async () => {
  const { theta, step, coefficient } = await run(graphOf({ goal: 1, truth: 0.45 }));
  assert.deepEqual([step, coefficient], [10, 0.5]);
  assert.ok(theta[0] > 0.35 && theta[0] < 0.5, `${theta[0]}`);
});

/** Losses of four windows by the weight, and the coefficient that they give. */
const COEFFICIENTS: readonly (readonly [law: string, losses: (weight: number) => readonly number[], number])[] = [
  ['a small significant gain gives 0.5, although 1 gains more', (weight) => Array(4).fill(1 - 0.3 * weight), 0.5],
  ['a significant loss gives 0, however small it is', (weight) => Array(4).fill(1 + 0.1 * weight), 0],
  [
    'where as many windows lose as gain it is 0.25',
    (weight) => [1 - weight, 1 - weight, 1 + weight / 2, 1 + weight / 2],
    0.25,
  ],
  [
    'windows of large losses do not dominate the gain',
    (weight) => [100, 1, 1, 1].map((loss) => loss * (1 - weight)),
    1,
  ],
];

for (const [law, losses, expected] of COEFFICIENTS) {
  test(`the coefficient of the weights: ${law}`, async () => {
    const graph = graphOf({ goal: 1, truth: 1 });
    const { theta, coefficient } = await run({
      ...graph,
      rowLosses: async ([weight]) => Float32Array.from(losses(weight)),
    });
    assert.equal(coefficient, expected);
    assert.equal(theta === base, expected === 0, 'weights that lose are not used');
  });
}

test('a gain that is not significant gives the coefficient 0.25', async () => {
  const graph = graphOf({ goal: 1, truth: 1 });
  const mixed: StepGraph = {
    ...graph,
    rowLosses: async ([weight]) => Float32Array.of(1 - weight, 1 - weight, 1 - weight, 1 + 1.5 * weight),
  };
  const { theta, coefficient, validation } = await run(mixed);
  assert.equal(coefficient, 0.25);
  assert.ok(theta[0] > 0.2 && theta[0] < 0.25, `${theta[0]}`);
  assert.equal(
    validation!.after.toFixed(3),
    ((4 - 1.5 * theta[0]) / 4).toFixed(3),
    'the loss of the interpolated weights',
  );
});

test('held-out values are no training data of the trial, and are training data afterwards', async () => {
  const late = wave.map((value, t) => (t < 160 ? value : value + 100));
  const graph = graphOf({ goal: 1, truth: 1 });
  const hasHeldOut: boolean[] = [];
  const recording: StepGraph = {
    ...graph,
    step(state, batch, update) {
      hasHeldOut.push([...batch.values, ...batch.target].some((value) => Math.abs(value) > 0.5));
      return graph.step(state, batch, update);
    },
  };
  const trial = 10 * UPDATES_PER_STEP;
  let draws = 0;
  const random = () => (draws++ * 0.618_034) % 1;
  const task10 = { ...task, series: [late] };
  const { signal } = new AbortController();
  await tune(task10, { base, graph: recording, random, signal, progress: () => {} });
  assert.equal(hasHeldOut.length, 2 * trial);
  assert.ok(!hasHeldOut.slice(0, trial).some(Boolean));
  assert.ok(hasHeldOut.slice(trial).some(Boolean));
});

test('weights that are not finite are never returned', async () => {
  const graph = graphOf({ goal: Number.NaN, truth: 1 });
  assert.equal((await run(graph)).theta, base);
  assert.equal((await run(graph, { series: [Float64Array.of(1, 2)] })).theta, base);
});

test('without validation windows the coefficient is 0.25 at the last step', async () => {
  const { theta, step, validation } = await run(graphOf({ goal: 1, truth: 0 }), { series: [Float64Array.of(1, 2)] });
  assert.deepEqual([step, validation], [10, null]);
  assert.ok(theta[0] > 0.2 && theta[0] < 0.25, `${theta[0]}`);
});

test('without steps or training windows the initial weights are returned', async () => {
  for (const changes of [{ steps: 0 }, { series: [Float64Array.of(1)] }, { series: [new Float64Array(90).fill(7)] }]) {
    assert.equal((await run(graphOf({ goal: 1, truth: 1 }), changes)).theta, base);
  }
});

test('an aborted tuning ends before its next update', async () => {
  const stop = new AbortController();
  const graph = graphOf({ goal: 1, truth: 1 });
  let updates = 0;
  const stopping: StepGraph = {
    ...graph,
    step(...args) {
      if (++updates === UPDATES_PER_STEP + 1) stop.abort(new Error('not wanted any more'));
      return graph.step(...args);
    },
  };
  await assert.rejects(run(stopping, {}, stop.signal), /not wanted any more/);
  assert.equal(updates, UPDATES_PER_STEP + 1);
});
