import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import test, { type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { ForecastBatch } from '../../../src/forecasting/forecaster.ts';
import { type Model, openCatalog } from '../../../src/models/catalog.ts';
import { type ForecasterLimits, Forecasters } from '../../../src/models/onnx-forecaster.ts';
import { runForOwner } from '../../../src/models/request-owner.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { type Fault, writeModel } from '../../fixture/models/model-folder.ts';
import { seededRandom } from '../../fixture/seeded-random.ts';

function writeModels(faults: Record<string, Fault>): Promise<Model[]> {
  const dir = freshFolder();
  return Promise.all(Object.entries(faults).map(([name, fault]) => writeModel(dir, name, { fault })));
}

/** Forecasters of the fixture model `mean`, closed after the test. */
async function start(
  t: TestContext,
  limits: Partial<ForecasterLimits> = {},
  faults: Record<string, Fault> = { mean: 'none' },
): Promise<Forecasters> {
  const forecasters = await Forecasters.start(await writeModels(faults), { threads: 1, ...limits });
  t.after(() => forecasters.close());
  return forecasters;
}

/** One row for each level; the model forecasts its level. */
function levels(rows: readonly number[], { horizon = 1, contextLength = 8 } = {}): ForecastBatch {
  const values = Float32Array.from(
    { length: rows.length * contextLength },
    (_, i) => rows[Math.floor(i / contextLength)],
  );
  return { rows: rows.length, contextLength, horizon, values };
}

/** Terminates a thread, like a crash. */
function catchWorkers(t: TestContext): Worker[] {
  const workers: Worker[] = [];
  const onWorker = (worker: Worker) => workers.push(worker);
  process.on('worker', onWorker);
  t.after(() => process.off('worker', onWorker));
  return workers;
}

test('concurrent requests share a run, and each gets its own rows', async (t) => {
  const forecasters = await start(t);
  const { forecast } = forecasters.forecasterFor('mean', 3);
  const results = await Promise.all([
    forecast(levels([1, 2], { horizon: 3 })),
    forecast(levels([3], { horizon: 1 })),
    forecast(levels([4, 5], { horizon: 8 })),
  ]);
  const actual = results.map((result) => [...result]);
  assert.deepEqual(actual, [[1, 1, 1, 2, 2, 2], [3], [...Array(8).fill(4), ...Array(8).fill(5)]]);
  const { runs, forecasts, rowsWaiting, threads } = forecasters.stats();
  assert.deepEqual({ runs, forecasts, rowsWaiting, threads }, { runs: 1, forecasts: 5, rowsWaiting: 0, threads: 1 });
});

test('a request longer than a run is distributed over the threads and reassembled', async (t) => {
  const forecasters = await start(t, { threads: 2, runRowsMax: 16 });
  const rows = Array.from({ length: 100 }, (_, row) => row - 50);
  const batch = levels(rows, { horizon: 2, contextLength: 32 });
  const result = await forecasters.forecasterFor('mean', 2).forecast(batch);
  const expected = rows.flatMap((level) => [level, level]);
  assert.deepEqual([...result], expected);
  assert.equal(forecasters.stats().forecasts, 100);
});

test('a short request has its turn next to a long one that fills every run', async (t) => {
  const forecasters = await start(t, { runRowsMax: 4 });
  const { forecast } = forecasters.forecasterFor('mean', 1);
  let longIsDone = false;
  const long = forecast(levels(Array(1_000).fill(1))).then(() => {
    longIsDone = true;
  });
  await forecast(levels([2], { contextLength: 32 }));
  assert.equal(longIsDone, false);
  assert.ok(forecasters.stats().runs < 10);
  await long;
});

test('context lengths, horizons and models do not share a run', async (t) => {
  const forecasters = await start(t, {}, { mean: 'none', other: 'none' });
  const { forecast } = forecasters.forecasterFor('mean', 9);
  await Promise.all([
    forecast(levels([1])),
    forecast(levels([1], { contextLength: 32 })),
    forecast(levels([1], { horizon: 9 })),
    forecasters.forecasterFor('other', 1).forecast(levels([1])),
  ]);
  assert.equal(forecasters.stats().runs, 4);
});

test('a duplicate model is loaded once', async (t) => {
  const [model] = await writeModels({ mean: 'none' });
  const workers = catchWorkers(t);
  const forecasters = await Forecasters.start([model, model], { threads: 1 });
  t.after(() => forecasters.close());
  assert.equal(workers.length, 1);
  assert.deepEqual([...(await forecasters.forecasterFor('mean', 1).forecast(levels([7])))], [7]);
});

test('forecastQuantiles returns every quantile', async (t) => {
  const forecasters = await start(t);
  const batch = levels([2, -4], { horizon: 2 });
  const { levels: quantiles, values } = await forecasters.forecasterFor('mean', 2).forecastQuantiles(batch);
  assert.deepEqual(quantiles, [0.1, 0.5, 0.9]);
  assert.deepEqual([...values], [1, 2, 3, 1, 2, 3, -6, -4, -2, -6, -4, -2]);
});

test('a model that was not loaded, and a horizon beyond horizon_max, are refused', async (t) => {
  const forecasters = await start(t);
  assert.throws(() => forecasters.forecasterFor('absent', 1), { code: 'model-unknown' });
  const refusal = { code: 'configuration', message: 'horizon 25 is beyond horizon_max 24 of model mean' };
  assert.throws(() => forecasters.forecasterFor('mean', 25), refusal);
  await assert.rejects(forecasters.forecasterFor('mean', 24).forecast(levels([1], { horizon: 25 })), refusal);
});

test('rows beyond queueRowsMax are rejected as overloaded; queued requests are not affected', async (t) => {
  const forecasters = await start(t, { queueRowsMax: 10 });
  const { forecast } = forecasters.forecasterFor('mean', 1);
  const taken = forecast(levels(Array(8).fill(1)));
  await assert.rejects(forecast(levels([1, 2, 3])), { code: 'overloaded', retryable: true });
  await assert.rejects(forecast(levels(Array(11).fill(1))), { code: 'overloaded', retryable: false });
  assert.equal((await taken).length, 8);
});

test('an aborted request is rejected with the reason at once, its rows are removed, and other requests continue', async (t) => {
  const forecasters = await start(t);
  const { forecast } = forecasters.forecasterFor('mean', 1);
  const controller = new AbortController();
  const long = forecast(levels(Array(5_000).fill(1)), controller.signal);
  const other = forecast(levels([2]));
  const reason = new Error('the partition was revoked');
  controller.abort(reason);
  await assert.rejects(long, reason);
  assert.deepEqual([...(await other)], [2]);
  await forecasters.close();
  assert(forecasters.stats().forecasts < 5_000, 'rows of the aborted request were not run');
  assert.equal(forecasters.stats().rowsWaiting, 0);
});

test('a forecast that is not finite fails its request, by row, and no other request of the run', async (t) => {
  const forecasters = await start(t, {}, { mean: 'nan-below-zero' });
  const { forecast } = forecasters.forecasterFor('mean', 1);
  const bad = forecast(levels([4, 9, -1]));
  const good = forecast(levels([4]));
  await assert.rejects(bad, { message: 'row 2: model mean made a forecast that is not finite' });
  assert.deepEqual([...(await good)], [4]);
  assert.equal(forecasters.stats().runs, 1);
});

test('an infinite observation fails its request and no other request of the run', async (t) => {
  const { forecast } = (await start(t)).forecasterFor('mean', 1);
  const batch = levels([1, 2]);
  batch.values[9] = Number.NEGATIVE_INFINITY;
  const good = forecast(levels([3]));
  await assert.rejects(forecast(batch), { message: 'row 1: an observation is infinite (as float32)' });
  assert.deepEqual([...(await good)], [3]);
});

test('a failed run rejects its requests with the reason, and the thread continues', async (t) => {
  const forecasters = await start(t, {}, { mean: 'fails-above-thousand' });
  const { forecast } = forecasters.forecasterFor('mean', 1);
  await assert.rejects(forecast(levels([1, 2000])), { message: /^model mean cannot be run: .*Gather/s });
  assert.deepEqual([...(await forecast(levels([5])))], [5]);
});

test('a thread that exits is noticed and replaced; requests wait for the new one', async (t) => {
  const workers = catchWorkers(t);
  const forecasters = await start(t, { threads: 2 });
  const { forecast } = forecasters.forecasterFor('mean', 1);
  assert.equal(forecasters.trouble, null);
  await Promise.all(workers.map((worker) => worker.terminate()));
  assert.match(forecasters.trouble ?? '', /^an inference thread ended/);
  assert.equal(forecasters.stats().threads, 0);
  assert.deepEqual([...(await forecast(levels([7])))], [7]);
  while (forecasters.trouble !== null) await wait(5);
  assert.deepEqual([forecasters.stats().threads, workers.length], [2, 4]);
});

test('runs of a thread that exits are rejected as internal', async (t) => {
  const workers = catchWorkers(t);
  const forecasters = await start(t);
  const { forecast } = forecasters.forecasterFor('mean', 1);
  const [worker] = workers;
  // The thread ends before it reads the run; else it might answer first.
  const handedOver = new Promise<void>((resolve) => {
    worker.postMessage = () => resolve();
  });
  const rejected = assert.rejects(forecast(levels([1])), { code: 'internal', message: /^an inference thread ended/ });
  await handedOver;
  await worker.terminate();
  await rejected;
  assert.deepEqual([...(await forecast(levels([2])))], [2]);
});

test('requests are rejected while no thread is left and none can be started', async (t) => {
  const workers = catchWorkers(t);
  const [model] = await writeModels({ mean: 'none' });
  const forecasters = await Forecasters.start([model], { threads: 1 });
  const { forecast } = forecasters.forecasterFor('mean', 1);
  await rename(model.graphPath, `${model.graphPath}.away`);
  await workers[0].terminate();
  await assert.rejects(forecast(levels([1])), { code: 'internal', message: /cannot be started/ });
  assert.match(forecasters.trouble ?? '', /cannot be started/);
  await rename(`${model.graphPath}.away`, model.graphPath);
  while (forecasters.trouble !== null) await wait(20);
  assert.deepEqual([...(await forecast(levels([3])))], [3]);
  await forecasters.close();
});

test('while owners share the threads a run is half as long, so that a new request waits for less', async (t) => {
  const forecasters = await start(t, { runRowsMax: 32 });
  const { forecast } = forecasters.forecasterFor('mean', 1);
  const runsOf = async (work: () => Promise<unknown>) => {
    const before = forecasters.stats().runs;
    await work();
    return forecasters.stats().runs - before;
  };
  const long = () => forecast(levels(Array(128).fill(1)));
  assert.equal(await runsOf(() => runForOwner('ann', long)), 4);
  assert.equal(await runsOf(() => runForOwner('bob', () => forecast(levels([2])))), 1);
  assert.equal(await runsOf(() => runForOwner('ann', long)), 8);
});

test('close finishes accepted requests and rejects new ones', async (t) => {
  const forecasters = await start(t, { threads: 2 });
  const { forecast } = forecasters.forecasterFor('mean', 1);
  const taken = forecast(levels(Array(500).fill(3)));
  const closed = forecasters.close();
  await assert.rejects(forecast(levels([1])), { message: 'the forecasters are closed' });
  assert.equal((await taken).length, 500);
  await closed;
  await forecasters.close();
});

test('an invalid graph, and one with another output shape than in its manifest, are refused by folder, all at once', async () => {
  const [model, other] = await writeModels({ mean: 'none', other: 'none' });
  const quantiles = [0.5, 0.9];
  const wrong = { ...other, manifest: { ...other.manifest, quantiles } };
  await writeFile(model.graphPath, 'no graph');
  await assert.rejects(Forecasters.start([model, wrong], { threads: 2 }), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'model-invalid');
    const [first, second] = error.message.split('\n');
    assert.match(first, /^model folder \S+\/mean: forecast\.onnx cannot be loaded: /);
    assert.match(second, /^model folder \S+\/other: .* quantiles has the shape \[4, 8, 3\] instead of \[4, 8, 2\]$/);
    return true;
  });
});

for (const [fault, reason] of [
  ['fails', /the graph fails at context 8 and horizon 8: .*Gather/],
  ['nan', /the graph forecasts a wave with numbers that are not finite at context 8 and horizon 8; /],
  [
    'descends',
    /the graph forecasts quantiles that cross \(quantiles must ascend: of a wave 0\.5 is .* below the .* of 0\.1\)/,
  ],
  ['looks-aside', /the graph forecasts a series differently from run to run, or with other series, at context 8/],
  ['draws', /the graph forecasts a series differently from run to run, or with other series, at context 8/],
] as const) {
  test(`a graph that ${fault} is refused after a test run, with the reason`, async () => {
    const models = await writeModels({ own: fault });
    await assert.rejects(Forecasters.start(models, { threads: 1 }), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'model-invalid');
      assert.match(error.message, /^model folder \S+\/own: /);
      assert.match(error.message, reason);
      return true;
    });
  });
}

test('all inputs and outputs that the graph does not have are reported before a run', async () => {
  const [model] = await writeModels({ own: 'fails' });
  const inputs = { values: 'x', observed: 'observed', future: 'h' };
  const wrong = { ...model, manifest: { ...model.manifest, inputs, output: 'y' } };
  await assert.rejects(Forecasters.start([wrong], { threads: 1 }), {
    message: new RegExp(
      'own: inputs\\.values is "x", which the graph does not have: it takes "values", "observed", "future"; ' +
        'inputs\\.future is "h", .*; output is "y", which the graph does not have: it gives "quantiles"; ' +
        'inputs does not name all that the graph takes: "values", "future"$',
    ),
  });
});

test('a rare model is opened on first use: an invalid one fails its own forecasts alone', async (t) => {
  const [model, rare] = await writeModels({ mean: 'none', rare: 'none' });
  await writeFile(rare.graphPath, 'no graph');
  const forecasters = await Forecasters.start([model, rare], { threads: 2, rare: [rare] });
  t.after(() => forecasters.close());
  await assert.rejects(forecasters.forecasterFor('rare', 1).forecast(levels([1])), /model rare cannot be run: /);
  assert.deepEqual([...(await forecasters.forecasterFor('mean', 1).forecast(levels([7])))], [7]);
});

test('a rare model forecasts like another one', async (t) => {
  const [model, rare] = await writeModels({ mean: 'none', rare: 'none' });
  const forecasters = await Forecasters.start([model, rare], { threads: 1, rare: [rare] });
  t.after(() => forecasters.close());
  assert.deepEqual([...(await forecasters.forecasterFor('rare', 1).forecast(levels([1, 2])))], [1, 2]);
});

test('a graph of medians that cannot be loaded is refused by its name', async () => {
  const [model] = await writeModels({ own: 'none' });
  const median = { graph: 'medians.onnx', sha256: 'a'.repeat(64), rowsUnit: 4 };
  const wrong = { ...model, manifest: { ...model.manifest, median } };
  await assert.rejects(Forecasters.start([wrong], { threads: 1 }), {
    message: /own: medians\.onnx cannot be loaded: /,
  });
});

const shipped = await openCatalog({ modelsDir: null });
for (const model of ['tsmodel-1', 'tsmodel-1-detection', 'tsmodel-1-long-horizon'].map((name) => shipped.get(name))) {
  const { name } = model;
  test(`medians alone of ${name} are those among its quantiles, bit for bit, in runs of any number of rows, whatever is missing`, async (t) => {
    const forecasters = await Forecasters.start([model], { threads: 1 });
    t.after(() => forecasters.close());
    const { contextBuckets, horizonMax, quantiles, median } = model.manifest;
    assert.notEqual(median, null);
    const random = seededRandom(7);
    for (const contextLength of contextBuckets) {
      for (const horizon of [1, 24, horizonMax]) {
        const values = Float32Array.from({ length: 9 * contextLength }, (_, i) => {
          const row = Math.floor(i / contextLength);
          return random() < row / 20 ? Number.NaN : 10 ** (row - 4) * (random() + Math.sin(i / (row + 1)));
        });
        const batch = { rows: 9, contextLength, horizon, values };
        const forecaster = forecasters.forecasterFor(name, horizon);
        const all = await forecaster.forecastQuantiles(batch);
        const wanted = all.values.filter((_, i) => i % quantiles.length === quantiles.indexOf(0.5));
        const where = `context ${contextLength}, horizon ${horizon}`;
        for (const rows of [9, 1, 2]) {
          const parts = Array.from({ length: Math.ceil(9 / rows) }, (_, i) => {
            const some = values.slice(i * rows * contextLength, (i + 1) * rows * contextLength);
            return { rows: some.length / contextLength, contextLength, horizon, values: some };
          });
          const made: number[] = [];
          // One after the other, since requests at the same time would share a run.
          for (const part of parts) made.push(...(await forecaster.forecast(part)));
          assert.deepEqual(Float32Array.from(made), wanted, `${where}, ${rows} rows a request`);
        }
      }
    }
  });
}
