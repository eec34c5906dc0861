import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type StepGraph, UPDATES_PER_STEP } from '../../../../src/model/tuning/train-steps.ts';
import { type TuningTask, tune } from '../../../../src/model/tuning/tune.ts';

/** A model of one weight that moves towards `goal`; it loses its distance from `truth` where it is judged. */
function graphOf({ goal, truth }: { goal: number; truth: number }): StepGraph {
  return {
    shape: { batch: 4, context: 32, horizon: 8 },
    turnable: true,
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
  return tune({ ...task, ...changes }, base, graph, { chance: () => 0.5, signal, progress }).then((tuned) => {
    return { ...tuned, steps };
  });
}

test('weights that do far better on what was held back are taken wholly, and every step is told', async () => {
  const { theta, step, share, validation, steps } = await run(graphOf({ goal: 1, truth: 1 }));
  assert.deepEqual([step, share], [10, 1]);
  assert.ok(theta[0] > 0.8);
  assert.equal(validation!.before, 1);
  assert.ok(validation!.after < 0.6);
  assert.deepEqual(
    steps,
    Array.from({ length: 10 }, (_, i) => i + 1),
  );
});

test('weights that do worse are rolled back, wholly', async () => {
  const { theta, step, validation } = await run(graphOf({ goal: 1, truth: 0 }));
  assert.equal(theta, base);
  assert.equal(step, 0);
  assert.deepEqual(validation, { before: 0, after: 0 });
});

test('where weights get better and then worse, learning ends as early as was best', async () => {
  const { step, share, steps } = await run(graphOf({ goal: 1, truth: 0.15 }));
  assert.ok(step > 0 && step < 10, `step ${step}`);
  assert.equal(share, 0.5);
  assert.equal(steps.at(-1), 10, 'the others are told as done');
});

test('where a trial does about as well for longer, learning goes on for longer', async () => {
  const graph = graphOf({ goal: 1, truth: 1 });
  const goals = [0.14, 0.26, 0.3, 0.36];
  const uneven: StepGraph = {
    ...graph,
    rowLosses: async ([weight]) => Float32Array.from(goals, (goal) => Math.abs(weight - goal)),
  };
  const { step, share } = await run(uneven);
  // Gains half way, by step: 2 0.93, 4 1.18 with an error of 0.24, 6 1.05, 8 0.79, 10 0.55.
  assert.deepEqual([step, share], [6, 0.5]);
});

test('what helps half way and harms beyond is taken half way', async () => {
  const { theta, step, share } = await run(graphOf({ goal: 1, truth: 0.45 }));
  assert.deepEqual([step, share], [10, 0.5]);
  assert.ok(theta[0] > 0.35 && theta[0] < 0.5, `${theta[0]}`);
});

test('what gains a little everywhere is taken half way, although the whole way gains more', async () => {
  const graph = graphOf({ goal: 1, truth: 1 });
  const slight: StepGraph = { ...graph, rowLosses: async ([weight]) => new Float32Array(4).fill(1 - 0.3 * weight) };
  assert.equal((await run(slight)).share, 0.5);
});

test('what harms every window is not taken, however little', async () => {
  const graph = graphOf({ goal: 1, truth: 1 });
  const slight: StepGraph = { ...graph, rowLosses: async ([weight]) => new Float32Array(4).fill(1 + 0.1 * weight) };
  const { theta, share } = await run(slight);
  assert.equal(share, 0);
  assert.equal(theta, base);
});

test('of what helps most windows and harms others a quarter is taken', async () => {
  const graph = graphOf({ goal: 1, truth: 1 });
  const mixed: StepGraph = {
    ...graph,
    rowLosses: async ([weight]) => Float32Array.of(1 - weight, 1 - weight, 1 - weight, 1 + 1.5 * weight),
  };
  const { theta, share, validation } = await run(mixed);
  assert.equal(share, 0.25);
  assert.ok(theta[0] > 0.2 && theta[0] < 0.25, `${theta[0]}`);
  assert.equal(validation!.after.toFixed(3), ((4 - 1.5 * theta[0]) / 4).toFixed(3), 'told as it is taken');
});

test('what is held back is not seen in the trial, and teaches afterwards', async () => {
  const late = wave.map((value, t) => (t < 160 ? value : value + 100));
  const graph = graphOf({ goal: 1, truth: 1 });
  const seen: boolean[] = [];
  const watching: StepGraph = {
    ...graph,
    step(state, batch, n, rate) {
      seen.push([...batch.values, ...batch.target].some((value) => Math.abs(value) > 0.5));
      return graph.step(state, batch, n, rate);
    },
  };
  const trial = 10 * UPDATES_PER_STEP;
  let draws = 0;
  const chance = () => (draws++ * 0.618_034) % 1;
  const task10 = { ...task, series: [late] };
  await tune(task10, base, watching, { chance, signal: new AbortController().signal, progress: () => {} });
  assert.equal(seen.length, 2 * trial);
  assert.ok(!seen.slice(0, trial).some(Boolean));
  assert.ok(seen.slice(trial).some(Boolean));
});

test('of a gain that may be chance, since as many windows lose by it, a quarter is taken', async () => {
  const graph = graphOf({ goal: 1, truth: 1 });
  const lucky: StepGraph = {
    ...graph,
    rowLosses: async ([weight]) => Float32Array.of(1 - weight, 1 - weight, 1 + weight / 2, 1 + weight / 2),
  };
  assert.equal((await run(lucky)).share, 0.25);
});

test('a gain in every window is taken, however much one window loses beside the others', async () => {
  const graph = graphOf({ goal: 1, truth: 1 });
  const uneven: StepGraph = {
    ...graph,
    rowLosses: async (theta) => Float32Array.of(100, 1, 1, 1).map((loss) => loss * (1 - theta[0])),
  };
  assert.equal((await run(uneven)).share, 1);
});

test('weights that are not finite are never taken', async () => {
  const graph = graphOf({ goal: Number.NaN, truth: 1 });
  assert.equal((await run(graph)).theta, base);
  assert.equal((await run(graph, { series: [Float64Array.of(1, 2)] })).theta, base);
});

test('without enough to hold back, weights a quarter of the way to those of the last step are taken', async () => {
  const { theta, step, validation } = await run(graphOf({ goal: 1, truth: 0 }), { series: [Float64Array.of(1, 2)] });
  assert.deepEqual([step, validation], [10, null]);
  assert.ok(theta[0] > 0.2 && theta[0] < 0.25, `${theta[0]}`);
});

test('where nothing can be learnt, nothing is changed', async () => {
  for (const changes of [{ steps: 0 }, { series: [Float64Array.of(1)] }, { series: [new Float64Array(90).fill(7)] }]) {
    assert.equal((await run(graphOf({ goal: 1, truth: 1 }), changes)).theta, base);
  }
});

test('a tuning that is stopped ends before its next update', async () => {
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
