/** Fine-tuning with each pretrained model: its graphs equal PyTorch's, and tuning lowers the error. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { forecastCalibrated } from '../../src/forecasting/calibrated-forecasts.ts';
import { type Model, openCatalog } from '../../src/models/catalog.ts';
import { Forecasters } from '../../src/models/onnx-forecaster.ts';
import { openSession } from '../../src/models/open-session.ts';
import { shareWeights, type TunedWeights } from '../../src/models/tuned-weights.ts';
import type { TuningBatch } from '../../src/models/tuning/batch.ts';
import { stepGraph } from '../../src/models/tuning/in-thread-tuner.ts';
import { Tuner } from '../../src/models/tuning/tuner.ts';
import type { TuningRequest } from '../../src/models/tuning/tuning-bytes.ts';
import { DEPTH_MAX, readWeights, TUNING_LOSSES, type TuningGraphs } from '../../src/models/tuning-graphs.ts';

const catalog = await openCatalog({ modelsDir: null });
const models = catalog.names.map(catalog.get).filter(({ manifest }) => manifest.tuning !== null);
const forecasters = await Forecasters.start(models, { threads: 1 });
/** Nobody waits: these tests are about weights, also on a busy machine. */
const PATIENT = { tuningMsMax: 900_000, answerMsMax: 900_000 };
const tuner = new Tuner(models, PATIENT);
after(async () => {
  await tuner.close();
  await forecasters.close();
});

const never = new AbortController().signal;
function closeTo(actual: number, expected: number, tolerance: number): void {
  const near = Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected));
  assert.ok(near, `${actual}, not ${expected}`);
}

/** The batch of the golden numbers: see `golden` in pretraining/tuning.py. */
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

/** Two waves of incommensurable periods: their sum has no season. */
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

const call = { model: models[0].name, base: null, request, signal: never };

async function tuned(model: Model, base: TunedWeights | null, changes: Partial<TuningRequest> = {}) {
  const outcome = await tuner.tune({
    model: model.name,
    base: base?.theta ?? null,
    request: { ...request, ...changes },
    signal: never,
  });
  assert.ok(outcome.kind === 'tuned', outcome.kind);
  return shareWeights(outcome.tuned.theta);
}

/** Weights that differ from the model's own, so that they use the graph with theta, and forecast nearly the same. */
function perturbed(theta: Float32Array): TunedWeights {
  const moved = Float32Array.from(theta);
  moved[0] += 1e-6;
  return shareWeights(moved);
}

/** Root mean squared error of forecasts within the series. */
async function rmseOf(model: Model, weights: TunedWeights | null): Promise<number> {
  const forecaster = forecasters.forecasterFor(model.name, 24, weights);
  const points = Array.from({ length: 30 }, (_, i) => ({ values: beating, cutoff: 64 + 24 * i }));
  const forecasts = await forecastCalibrated(points, { h: 24, context: 512, probabilities: [] }, { forecaster });
  const errors = forecasts.flatMap(({ mean }, i) => [...mean].map((value, k) => value - beating[points[i].cutoff + k]));
  return Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / errors.length);
}

for (const model of models) {
  const tuning = model.manifest.tuning!;

  test(`${model.name}: the train step equals PyTorch's, for every loss`, async () => {
    const session = await openSession(join(dirname(model.graphPath), tuning.step.graph));
    const theta = await readWeights(model.graphPath, tuning);
    const initial = { theta, m: new Float32Array(theta.length), v: new Float32Array(theta.length) };
    for (const loss of TUNING_LOSSES) {
      const graph = stepGraph(session, tuning, { loss, depth: 5 });
      const [first, second, third, moved] = tuning.golden![loss];
      const rows = await graph.rowLosses(theta, goldenBatch(tuning));
      for (const [i, golden] of [first, second, third].entries()) closeTo(rows[i], golden, 1e-4);
      const { m } = await graph.step(initial, goldenBatch(tuning), { n: 1, rate: 1e-3 });
      closeTo(
        m.reduce((sum, one) => sum + Math.abs(one), 0),
        moved,
        1e-3,
      );
    }
  });

  test(`${model.name}: a depth changes the weights of that depth and below, and no others`, async () => {
    const session = await openSession(join(dirname(model.graphPath), tuning.step.graph));
    const theta = await readWeights(model.graphPath, tuning);
    const initial = { theta, m: new Float32Array(theta.length), v: new Float32Array(theta.length) };
    for (let depth = 1; depth <= DEPTH_MAX; depth++) {
      const graph = stepGraph(session, tuning, { loss: 'default', depth });
      const { theta: next } = await graph.step(initial, goldenBatch(tuning), { n: 1, rate: 1e-3 });
      const moved = new Set<number>();
      let start = 0;
      for (const [, length, from] of tuning.weights) {
        if (next.subarray(start, start + length).some((weight, i) => weight !== theta[start + i])) moved.add(from);
        start += length;
      }
      assert.deepEqual([...moved].sort(), [1, 2, 3, 4, 5].slice(0, depth));
    }
  });

  test(`${model.name}: its own weights as theta give its own forecasts, and slightly different weights give nearly the same`, async () => {
    const own = await readWeights(model.graphPath, tuning);
    const batch = { rows: 1, contextLength: 512, horizon: 24, values: Float32Array.from(beating.subarray(0, 512)) };
    const [inside, same, near] = await Promise.all(
      [null, shareWeights(own), perturbed(own)].map((weights) => {
        return forecasters.forecasterFor(model.name, 24, weights).forecast(batch);
      }),
    );
    assert.deepEqual(same, inside);
    for (const [i, value] of inside.entries()) closeTo(near[i], value, 0.05);
  });

  if (model.manifest.membersMax !== undefined) usesGroupContext(model);

  // What ten steps reach, and what further ones add, is shown by the smallest model.
  if (model === models[0]) {
    test(`${model.name}: on a learnable series ten default steps lower the error by 30 %, ten more by another 20 %`, async () => {
      const before = await rmseOf(model, null);
      const first = await tuned(model, null);
      const afterFirst = await rmseOf(model, first);
      assert.ok(afterFirst <= 0.7 * before, `${before} to ${afterFirst}`);
      const afterSecond = await rmseOf(model, await tuned(model, first));
      const fell = afterSecond < afterFirst && afterSecond <= 0.7 * 0.8 * before;
      assert.ok(fell, `${before} to ${afterFirst} to ${afterSecond}`);
    });
  } else {
    test(`${model.name}: on a learnable series five default steps lower the error by 15 %`, async () => {
      const [before, after] = [await rmseOf(model, null), await rmseOf(model, await tuned(model, null, { steps: 5 }))];
      assert.ok(after <= 0.85 * before, `${before} to ${after}`);
    });
  }

  test(`${model.name}: the same task gives the same weights in every child`, async () => {
    // Of eight updates.
    const short = { steps: 1, depth: 3, loss: 'smape' } as const;
    const { digest } = await tuned(model, null, short);
    assert.notEqual(digest, shareWeights(await readWeights(model.graphPath, tuning)).digest);
    assert.equal((await tuned(model, null, short)).digest, digest);
    const other = new Tuner(models, PATIENT);
    const outcome = await other.tune({ ...call, model: model.name, request: { ...request, ...short } });
    await other.close();
    assert.ok(outcome.kind === 'tuned');
    assert.equal(shareWeights(outcome.tuned.theta).digest, digest);
  });
}

/** Tests of models that take groups. */
function usesGroupContext(model: Model): void {
  /** Unpredictable from its own past. The second series follows it with a lag of 20. */
  const news = Float32Array.from(
    { length: 1_000 },
    (_, t) => Math.sin(t * t * 12.9898) + Math.sin((t - 1) * (t - 1) * 12.9898),
  );
  const values = Float32Array.of(...news.subarray(400, 912), ...news.subarray(380, 892).map((value) => 3 * value + 7));
  const pair = { rows: 2, contextLength: 512, horizon: 12, values };

  test(`${model.name}: tuned weights use the group context, and forecast a single series as without groups`, async () => {
    const weights = await tuned(model, null, { steps: 2, depth: 5 });
    const untuned = perturbed(await readWeights(model.graphPath, model.manifest.tuning!));
    for (const each of [untuned, weights]) {
      const { forecast } = forecasters.forecasterFor(model.name, 12, each);
      const errorOf = (medians: Float32Array) =>
        medians.subarray(12).reduce((sum, value, k) => sum + Math.abs(value - (3 * news[892 + k] + 7)), 0);
      const [alone, grouped] = [await forecast(pair), await forecast({ ...pair, isGroup: true })];
      assert.ok(errorOf(grouped) < 0.5 * errorOf(alone), `${errorOf(grouped)} as a group, ${errorOf(alone)} alone`);
      const single = { ...pair, rows: 1, values: values.slice(0, 512) };
      assert.deepEqual(await forecast({ ...single, isGroup: true }), await forecast(single));
      assert.deepEqual(await forecast(single), alone.slice(0, 12));
    }
  });
}
