import assert from 'node:assert/strict';
import test from 'node:test';
import { portProblems, type TestRun, testRunProblems } from '../../../src/models/graph-check.ts';
import { checkManifest, type ModelManifest } from '../../../src/models/manifest.ts';
import { manifestOf } from '../../fixture/models/model-folder.ts';

const reading = checkManifest(manifestOf('own', Buffer.from('graph')));
assert.equal(reading.kind, 'manifest');
const manifest = (reading as { manifest: ModelManifest }).manifest;
const float = (name: string) => ({ name, type: 'float32' });
const inputs = ['values', 'observed', 'future'].map(float);

test('a graph that matches its manifest has no problems', () => {
  assert.deepEqual(portProblems(manifest, { inputs, outputs: ['quantiles', 'another'].map(float) }), []);
});

test('an input of another type, and an unnamed input, are problems', () => {
  const graph = {
    inputs: [float('values'), { name: 'observed', type: 'bool' }, float('future'), float('theta')],
    outputs: [{ name: 'quantiles' }],
  };
  assert.deepEqual(portProblems(manifest, graph), [
    'inputs.observed must be float32, but the graph takes bool',
    'output must be float32, but the graph gives no tensor',
    'inputs does not name all that the graph takes: "theta"',
  ]);
});

/** A forecast that depends on the first value of its row alone. */
function forecastOf({ rows, contextLength, horizon, values }: TestRun, quantiles: 'all' | 'median' = 'all') {
  const levels = quantiles === 'all' ? [0, 1, 2] : [1];
  const forecasts = new Float32Array(rows * horizon * levels.length);
  for (let i = 0; i < forecasts.length; i++) {
    const first = values[Math.floor(i / (horizon * levels.length)) * contextLength];
    forecasts[i] = (Number.isNaN(first) ? 0 : first) + levels[i % levels.length];
  }
  return Promise.resolve({ forecasts, badRows: [] });
}

test('a model is tested at every context length, and at its shortest and longest horizon', async () => {
  const shapes = new Set<string>();
  const problems = await testRunProblems(manifest, (trial, quantiles) => {
    shapes.add(`${trial.contextLength} ${trial.horizon}`);
    return forecastOf(trial, quantiles);
  });
  assert.deepEqual([problems, [...shapes]], [[], ['8 8', '32 8', '32 24']]);
});

test('a problem at the longest horizon alone is found', async () => {
  const problems = await testRunProblems(manifest, (trial, quantiles) => {
    return trial.horizon === 24 ? Promise.reject(new Error('too long')) : forecastOf(trial, quantiles);
  });
  assert.deepEqual(problems, ['the graph fails at context 32 and horizon 24: too long']);
});

test('medians alone that are not those among the quantiles are a problem', async () => {
  const problems = await testRunProblems(manifest, async (trial, quantiles) => {
    const made = await forecastOf(trial, quantiles);
    return quantiles === 'all' ? made : { ...made, forecasts: made.forecasts.map((median) => median * (1 + 2 ** -23)) };
  });
  const text = 'medians alone that differ from its quantiles at context 8 and horizon 8';
  assert.deepEqual(problems, [`the graph forecasts ${text}`]);
});

test('medians that are those among the quantiles in larger runs alone are a problem', async () => {
  const median = { graph: 'median.onnx', sha256: 'a'.repeat(64), rowsUnit: 2 };
  const problems = await testRunProblems({ ...manifest, median }, async (trial, quantiles) => {
    const made = await forecastOf(trial, quantiles);
    return trial.rows === 4 ? made : { ...made, forecasts: made.forecasts.map((value) => value * (1 + 2 ** -23)) };
  });
  const text = 'medians alone that differ from its quantiles at context 8 and horizon 8';
  assert.deepEqual(problems, [`the graph forecasts ${text}`]);
});

test('rows that are not finite are named by their test series', async () => {
  const badRows = [{ row: 3, reason: 'not finite' }];
  const problems = await testRunProblems(manifest, async (trial) => ({ ...(await forecastOf(trial)), badRows }));
  const text = 'with numbers that are not finite at context 8 and horizon 8';
  assert.deepEqual(problems, [`the graph forecasts a series without observations ${text}`]);
});
