import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { serveModels } from '../../../../src/api/models/served-models.ts';
import { tuneInProcess } from '../../../../src/api/models/tuned-models.ts';
import {
  crossValidationWork,
  historicForecastWork,
  inSampleDetectionWork,
  onlineDetectionWork,
} from '../../../../src/api/tasks/task-work.ts';
import { DETECTOR_DEFAULTS } from '../../../../src/config/keys/detector-keys.ts';
import { openCatalog } from '../../../../src/models/catalog.ts';
import { Forecasters } from '../../../../src/models/onnx-forecaster.ts';
import { daily, startShippedModel, whiteNoise } from '../../../fixture/stream/backtest.ts';

const H = 24;
const catalog = await openCatalog({ modelsDir: null });
const models = catalog.names.map((name) => catalog.get(name));
const forecasters = await Forecasters.start(models, { threads: 1, rare: models });
const stream = await startShippedModel();
after(() => Promise.all([forecasters.close(), stream.close()]));
const served = serveModels(catalog, forecasters, tuneInProcess([]));
const noise = whiteNoise(5);
const values = Array.from({ length: 13 * H }, (_, i) => 40 + 10 * daily(i) + noise());
const seriesOf = (y: readonly number[]) => ({ y: Float64Array.from(y), sizes: [y.length] });
const series = seriesOf(values);

async function forecastOf(work: { run(signal: AbortSignal): Promise<unknown> }): Promise<readonly number[]> {
  const { mean } = (await work.run(new AbortController().signal)) as { mean: readonly number[] };
  return Array.from(mean).slice(-H);
}

/** The last day by each task that forecasts it from the same cutoff. */
const onlineBy = (model: string, y = values) =>
  forecastOf(onlineDetectionWork({ series: seriesOf(y), model, freq: 'h', h: H, detection_size: H }, served));
const windowBy = (model: string) =>
  forecastOf(crossValidationWork({ series, model, freq: 'h', h: H, n_windows: 1 }, served));

for (const model of ['tsmodel-1', 'tsmodel-1-detection', 'timegpt-1', 'tsmodel-1-long-horizon']) {
  test(`detection by ${model} forecasts what its cross-validation and its history forecast`, async () => {
    assert.deepEqual(await onlineBy(model), await windowBy(model));
    const detected = await forecastOf(inSampleDetectionWork({ series, model, freq: 'h' }, served));
    assert.deepEqual(detected, await forecastOf(historicForecastWork({ series, model, freq: 'h' }, served)));
  });
}

test("online detection by the detectors' default model forecasts what the stream does, and by tsmodel-1 it does not", async () => {
  const scores = await stream.backtest(values);
  const { end } = scores.findLast(({ window }) => window.end <= values.length)!.window;
  const streamed = scores.filter(({ window }) => window.end === end).map(({ forecast }) => forecast);
  assert.deepEqual(await onlineBy(DETECTOR_DEFAULTS.model, values.slice(0, end)), streamed);
  assert.notDeepEqual(await onlineBy('tsmodel-1', values.slice(0, end)), streamed);
});

test('tsmodel-2.1 forecasts series alone by the network of tsmodel-1, equal to the bit to its own, and a group by its own', async () => {
  const batch = { rows: 4, contextLength: 512, horizon: H, values: new Float32Array(4 * 512) };
  batch.values.set(Array.from({ length: 4 * 512 }, (_, i) => 10 * daily(i + 7 * Math.floor(i / 512)) + noise()));
  const [own, alone] = ['tsmodel-2.1', 'tsmodel-1'].map((name) => forecasters.forecasterFor(name, H));
  const asked: string[] = [];
  const counted = {
    forecasterFor(name: string, h: number) {
      const found = forecasters.forecasterFor(name, h);
      const forecast = (...given: Parameters<typeof found.forecast>) => {
        asked.push(name);
        return found.forecast(...given);
      };
      return { ...found, forecast };
    },
  } as unknown as Forecasters;
  const { forecaster } = serveModels(catalog, counted, tuneInProcess([])).find('timegpt-2.1')!;
  const wanted = await alone.forecast(batch);
  assert.deepEqual(await own.forecast(batch), wanted);
  assert.deepEqual(await forecaster.forecast(batch), wanted);
  const one = { ...batch, rows: 1, values: batch.values.slice(0, 512), isGroup: true };
  assert.deepEqual(await forecaster.forecast(one), wanted.slice(0, H));
  const group = { ...batch, isGroup: true };
  assert.deepEqual(await forecaster.forecast(group), await own.forecast(group));
  assert.notDeepEqual(await forecaster.forecast(group), wanted);
  assert.deepEqual(asked, ['tsmodel-1', 'tsmodel-1', 'tsmodel-2.1', 'tsmodel-2.1']);
});
