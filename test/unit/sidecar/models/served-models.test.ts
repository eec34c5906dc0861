import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networksOf, openCatalog } from '../../../../src/model/catalog.ts';
import { Forecasters } from '../../../../src/model/onnx-forecaster.ts';
import { shareWeights } from '../../../../src/model/tuned-weights.ts';
import { serveModels } from '../../../../src/sidecar/models/served-models.ts';
import { tuneInProcess } from '../../../../src/sidecar/models/tuned-models.ts';

test('detection asks the network of detection; fine-tuned weights, and a model without one, serve both', async (t) => {
  const catalog = await openCatalog({ modelsDir: null });
  const models = ['tsmodel-1', 'tsmodel-1-long-horizon'].map((name) => catalog.get(name));
  const networks = networksOf(models);
  const forecasters = await Forecasters.start(networks, { threads: 1, rare: networks });
  t.after(() => forecasters.close());
  const served = serveModels(catalog, forecasters, tuneInProcess([]));
  const { forecaster, detectionForecaster, tunable } = served.find('tsmodel-1')!;
  const values = Float32Array.from({ length: 512 }, (_, i) => Math.sin(i / 7) + ((i * 7919) % 13) / 9);
  const batch = { rows: 1, contextLength: 512, horizon: 24, values };
  const detected = await detectionForecaster.forecast(batch);
  assert.deepEqual(detected, await forecasters.forecasterFor('tsmodel-1/detection', 24).forecast(batch));
  assert.deepEqual(await forecaster.forecast(batch), await forecasters.forecasterFor('tsmodel-1', 24).forecast(batch));
  assert.notDeepEqual(detected, await forecaster.forecast(batch));
  const tuned = tunable!.withWeights(shareWeights(new Float32Array(tunable!.weightCount)));
  assert.equal(tuned.detectionForecaster, tuned.forecaster);
  const long = served.find('tsmodel-1-long-horizon')!;
  assert.equal(long.detectionForecaster, long.forecaster);
});
