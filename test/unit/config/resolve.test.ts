import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadedConfig } from '../../../src/config/load.ts';
import { resolveConfig } from '../../../src/config/resolve.ts';
import { load, problemsOf } from '../../fixture/configuration.ts';

const MODELS = new Map([
  ['tsmodel-1-detection', { context: 512, horizonMax: 96 }],
  ['small', { context: 64, horizonMax: 24 }],
]);

function loaded(...more: readonly string[]): LoadedConfig {
  const entries = more.map((entry, index) => `{ name: d${index}, series: '*', freq: h, detection_size: 96, ${entry} }`);
  const result = load({ env: { DETECTORS: 'd' }, files: { d: `detectors: [${entries}]` } });
  assert.equal(result.kind, 'config', problemsOf(result).join('\n'));
  return result.config;
}

test('a missing context is that of the model, and a written one stays', () => {
  const result = resolveConfig(loaded('h: 24', 'h: 24, model: small', 'h: 24, context: 48'), MODELS);
  assert.equal(result.kind, 'config');
  const contexts = result.config.stream.detectors.map(({ settings }) => settings.context);
  assert.deepEqual(contexts, [512, 64, 48]);
});

test('a horizon, a context and a name that no model has give one sentence each', () => {
  const config = loaded('h: 48, model: small', 'h: 96, context: 513', 'h: 1, model: smal');
  assert.deepEqual(problemsOf(resolveConfig(config, MODELS)), [
    'detectors[0].h must be at most the horizon of small (24), got 48',
    'detectors[1].context must be at most the context of tsmodel-1-detection (512), got 513',
    'detectors[2].model must be a model there is (tsmodel-1-detection, small), got "smal"; did you mean small?',
  ]);
});
