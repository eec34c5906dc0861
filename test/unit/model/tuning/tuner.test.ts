/** Fine-tuning with each pretrained model: the graphs against PyTorch, and what the tuner promises. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { forecastCalibrated } from '../../../../src/forecast/calibrated-forecasts.ts';
import { type Model, openCatalog } from '../../../../src/model/catalog.ts';
import { Forecasters } from '../../../../src/model/onnx-forecaster.ts';
import { openSession } from '../../../../src/model/open-session.ts';
import type { TuningBatch } from '../../../../src/model/tuning/batch.ts';
import { stepGraph } from '../../../../src/model/tuning/step-graph.ts';
import { shareWeights, type TunedWeights } from '../../../../src/model/tuning/tuned-weights.ts';
import { Tuner } from '../../../../src/model/tuning/tuner.ts';
import type { TuningRequest } from '../../../../src/model/tuning/tuning-bytes.ts';
import {
  DEPTH_MAX,
  readWeights,
  TUNING_LOSSES,
  type TuningGraphs,
} from '../../../../src/model/tuning/tuning-graphs.ts';

const catalog = await openCatalog({ modelsDir: null });
const models = catalog.names.map(catalog.get);
const forecasters = await Forecasters.start(models, { threads: 1 });
const tuner = new Tuner(models);
after(async () => {
  await tuner.close();
  await forecasters.close();
});

const never = new AbortController().signal;
function closeTo(actual: number, expected: number, tolerance: number): void {
  const near = Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected));
  assert.ok(near, `${actual}, not ${expected}`);
}

/** The batch of golden numbers: see `golden` in the tuning.py of pretraining. */
function goldenBatch({ batch, context, horizon }: TuningGraphs): TuningBatch {
  const wave = (row: number, t: number) => 3 * Math.sin(t / (3 + row)) + Math.cos(t / 7) + t / 100;
  const table = (width: number, of: (row: number, column: number) => number) =>
    Float32Array.from({ length: batch * width }, (_, i) => of(Math.floor(i / width), i % width));
  return {
    values: table(context, wave),
    observed: table(context, (row, t) => (row === 1 && t >= 100 && t < 140 ? 0 : 1)),
    target: table(horizon, (row, k) => wave(row, context + k)),
    weight: table(horizon, (row, k) => (row === 2 && k >= 48 ? 0 : 1)),
    series: table(3, (_, i) => [5, 2.5, 7.5][i]),
  };
}

/** Two waves whose lengths do not fit each other: no lag repeats their sum. */
const beating = Float64Array.from({ length: 800 }, (_, t) => {
  return Math.sin((2 * Math.PI * t) / 17.3) + Math.sin((2 * Math.PI * t) / 41.7 + 1);
});
const request: TuningRequest = {
  series: [beating],
  horizon: 24,
  contexts: [512],
  steps: 10,
  loss: 'default',
  depth: 1,
};

async function tuned(model: Model, base: TunedWeights | null, changes: Partial<TuningRequest> = {}) {
  const outcome = await tuner.tune(model.name, base?.theta ?? null, { ...request, ...changes }, never);
  assert.ok(outcome.kind === 'tuned', outcome.kind);
  return shareWeights(outcome.tuned.theta);
}

/** Weights that are not the model's own, so that they go through the graph that takes them, and forecast the same but for rounding. */
function hairsBreadthFrom(theta: Float32Array): TunedWeights {
  const moved = Float32Array.from(theta);
  moved[0] += 1e-6;
  return shareWeights(moved);
}

/** Of forecasts within the series. */
async function rmseOf(model: Model, weights: TunedWeights | null): Promise<number> {
  const forecaster = forecasters.forecasterFor(model.name, 24, weights);
  const points = Array.from({ length: 30 }, (_, i) => ({ values: beating, cutoff: 64 + 24 * i }));
  const forecasts = await forecastCalibrated(points, { h: 24, context: 512, probabilities: [] }, forecaster);
  const errors = forecasts.flatMap(({ mean }, i) => [...mean].map((value, k) => value - beating[points[i].cutoff + k]));
  return Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / errors.length);
}

for (const model of models) {
  const tuning = model.manifest.tuning!;

  test(`${model.name}: the train step is PyTorch's, for every loss`, async () => {
    const session = await openSession(join(dirname(model.graphPath), tuning.step.graph));
    const theta = await readWeights(model.graphPath, tuning);
    const still = { theta, m: new Float32Array(theta.length), v: new Float32Array(theta.length) };
    for (const loss of TUNING_LOSSES) {
      const graph = stepGraph(session, tuning, { loss, depth: 5 });
      const [first, second, third, moved] = tuning.golden![loss];
      const rows = await graph.rowLosses(theta, goldenBatch(tuning));
      for (const [i, golden] of [first, second, third].entries()) closeTo(rows[i], golden, 1e-4);
      const { m } = await graph.step(still, goldenBatch(tuning), 1, 1e-3);
      closeTo(
        m.reduce((sum, one) => sum + Math.abs(one), 0),
        moved,
        1e-3,
      );
    }
  });

  test(`${model.name}: a depth moves weights of its own, and none of a greater one`, async () => {
    const session = await openSession(join(dirname(model.graphPath), tuning.step.graph));
    const theta = await readWeights(model.graphPath, tuning);
    const still = { theta, m: new Float32Array(theta.length), v: new Float32Array(theta.length) };
    for (let depth = 1; depth <= DEPTH_MAX; depth++) {
      const graph = stepGraph(session, tuning, { loss: 'default', depth });
      const { theta: next } = await graph.step(still, goldenBatch(tuning), 1, 1e-3);
      const moved = new Set<number>();
      let start = 0;
      for (const [, length, from] of tuning.weights) {
        if (next.subarray(start, start + length).some((weight, i) => weight !== theta[start + i])) moved.add(from);
        start += length;
      }
      assert.deepEqual([...moved].sort(), [1, 2, 3, 4, 5].slice(0, depth));
    }
  });

  test(`${model.name}: its own weights, given from outside, make its own forecasts, and nearly its own weights nearly those`, async () => {
    const own = await readWeights(model.graphPath, tuning);
    const batch = { rows: 1, contextLength: 512, horizon: 24, values: Float32Array.from(beating.subarray(0, 512)) };
    const [inside, same, near] = await Promise.all(
      [null, shareWeights(own), hairsBreadthFrom(own)].map((weights) => {
        return forecasters.forecasterFor(model.name, 24, weights).forecast(batch);
      }),
    );
    assert.deepEqual(same, inside);
    for (const [i, value] of inside.entries()) closeTo(near[i], value, 0.05);
  });

  if (model.manifest.membersMax !== undefined) hearsOthers(model);

  test(`${model.name}: ten default steps take 30 % off the error where there is structure to learn, ten more another 20 %`, async () => {
    const before = await rmseOf(model, null);
    const first = await tuned(model, null);
    const between = await rmseOf(model, first);
    assert.ok(between <= 0.7 * before, `${before} to ${between}`);
    const after = await rmseOf(model, await tuned(model, first));
    assert.ok(after < between && after <= 0.7 * 0.8 * before, `${before} to ${between} to ${after}`);
  });

  test(`${model.name}: the same task makes the same weights, in whatever child`, async () => {
    const short = { steps: 2, depth: 3, loss: 'smape' } as const;
    const { digest } = await tuned(model, null, short);
    assert.equal((await tuned(model, null, short)).digest, digest);
    const other = new Tuner(models);
    const outcome = await other.tune(model.name, null, { ...request, ...short }, never);
    await other.close();
    assert.ok(outcome.kind === 'tuned');
    assert.equal(shareWeights(outcome.tuned.theta).digest, digest);
  });
}

/** What holds for weights of a model whose rows can be a group. */
function hearsOthers(model: Model): void {
  /** What nothing before it foretells, then the same 20 steps later. */
  const news = Float32Array.from(
    { length: 1_000 },
    (_, t) => Math.sin(t * t * 12.9898) + Math.sin((t - 1) * (t - 1) * 12.9898),
  );
  const values = Float32Array.of(...news.subarray(400, 912), ...news.subarray(380, 892).map((value) => 3 * value + 7));
  const pair = { rows: 2, contextLength: 512, horizon: 12, values };

  test(`${model.name}: tuned weights hear the members of a group, and a series alone as if there were no groups`, async () => {
    const weights = await tuned(model, null, { steps: 2, depth: 5 });
    const untuned = hairsBreadthFrom(await readWeights(model.graphPath, model.manifest.tuning!));
    for (const each of [untuned, weights]) {
      const { forecast } = forecasters.forecasterFor(model.name, 12, each);
      const missed = (medians: Float32Array) =>
        medians.subarray(12).reduce((sum, value, k) => sum + Math.abs(value - (3 * news[892 + k] + 7)), 0);
      const [alone, together] = [await forecast(pair), await forecast({ ...pair, together: true })];
      assert.ok(missed(together) < 0.5 * missed(alone), `${missed(together)} together, ${missed(alone)} alone`);
      const single = { ...pair, rows: 1, values: values.slice(0, 512) };
      assert.deepEqual(await forecast({ ...single, together: true }), await forecast(single));
      assert.deepEqual(await forecast(single), alone.slice(0, 12));
    }
  });
}

test('a tuning that is not wanted any more is stopped, and the next one is made', async () => {
  const stop = new AbortController();
  const steps: number[] = [];
  const onStep = (step: number) => {
    steps.push(step);
    if (step > 0) stop.abort(new Error('not wanted any more'));
  };
  const endless = { ...request, steps: 1_000_000 };
  await assert.rejects(tuner.tune(models[0].name, null, endless, stop.signal, onStep), /not wanted any more/);
  assert.deepEqual(steps.slice(0, 2), [0, 1]);
  await tuned(models[0], null, { steps: 1 });
});

test('a tuning that takes longer, or more memory, than it may is stopped, and told apart', async () => {
  const endless = { ...request, steps: 1_000_000 };
  for (const [limits, kind] of [
    [{ tuningMsMax: 1 }, 'too-long'],
    [{ memoryMbMax: 1 }, 'too-large'],
  ] as const) {
    const limited = new Tuner(models, limits);
    assert.deepEqual(await limited.tune(models[0].name, null, endless, never), { kind });
    await limited.close();
  }
});

test('more tunings than may wait are refused at once, and may be tried again', async () => {
  const limited = new Tuner(models, { waitingMax: 0 });
  const stop = new AbortController();
  const endless = limited.tune(models[0].name, null, { ...request, steps: 1_000_000 }, stop.signal);
  await assert.rejects(limited.tune(models[0].name, null, request, never), { code: 'overloaded', retryable: true });
  stop.abort(new Error('enough'));
  await assert.rejects(endless, /enough/);
  await limited.close();
});

test('a tuner that is closed stops what runs and what waits', async () => {
  const closing = new Tuner(models);
  const both = [1, 2].map(() => closing.tune(models[0].name, null, { ...request, steps: 1_000_000 }, never));
  await closing.close();
  for (const one of await Promise.allSettled(both)) assert.equal(one.status, 'rejected');
});
