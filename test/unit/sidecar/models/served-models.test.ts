import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { DETECTOR_DEFAULTS } from '../../../../src/config/keys/detector-keys.ts';
import { openCatalog } from '../../../../src/model/catalog.ts';
import { Forecasters } from '../../../../src/model/onnx-forecaster.ts';
import { serveModels } from '../../../../src/sidecar/models/served-models.ts';
import { tuneInProcess } from '../../../../src/sidecar/models/tuned-models.ts';
import {
  crossValidationWork,
  historicForecastWork,
  inSampleDetectionWork,
  onlineDetectionWork,
} from '../../../../src/sidecar/tasks/task-work.ts';
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
const series = { y: Float64Array.from(values), sizes: [values.length] };

async function forecastOf(work: { run(signal: AbortSignal): Promise<unknown> }): Promise<readonly number[]> {
  const { mean } = (await work.run(new AbortController().signal)) as { mean: readonly number[] };
  return Array.from(mean).slice(-H);
}

/** The last day by each task that forecasts it from the same cutoff. */
const onlineBy = (model: string) =>
  forecastOf(onlineDetectionWork({ series, model, freq: 'h', h: H, detection_size: H }, served));
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
  const streamed = scores.slice(-H).map(({ forecast }) => forecast);
  assert.deepEqual(await onlineBy(DETECTOR_DEFAULTS.model), streamed);
  assert.notDeepEqual(await onlineBy('tsmodel-1'), streamed);
});
