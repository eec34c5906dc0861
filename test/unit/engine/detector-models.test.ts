import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DETECTOR_DEFAULTS } from '../../../src/config/keys/detector-keys.ts';
import {
  catalogModels,
  type DetectorModels,
  loadDetector,
  pretrainedModels,
  tunedModel,
} from '../../../src/engine/detector-models.ts';
import { catalogOf, type Model, openCatalog } from '../../../src/models/catalog.ts';
import { shareWeights, type TunedWeights } from '../../../src/models/tuned-weights.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { arithmeticForecaster } from '../../fixture/models/arithmetic-forecaster.ts';
import { writeModel } from '../../fixture/models/model-folder.ts';
import { detectorConfig } from '../../fixture/stream/stream-run.ts';

const plain = await writeModel(freshFolder(), 'own');
const weights = shareWeights(Float32Array.of(1));
/** Begin of the digest of tsmodel-1, by which releases up to 0.2.0 keep the state of the default model. */
const KEPT_SINCE = 'e2555c2c4c64';

function modelsWith(model: Model): DetectorModels {
  const catalog = catalogOf([model], {});
  return { catalog, byName: new Map([...catalogModels(catalog), ['tuned', tunedModel(model, weights)]]) };
}

/** The detector of a model, with what it asks for. */
function loaded(model: string, models: DetectorModels) {
  const asked: { name: string; weights: TunedWeights | null | undefined }[] = [];
  const detector = loadDetector(detectorConfig({ model }), models, (name, _, given) => {
    asked.push({ name, weights: given });
    return arithmeticForecaster();
  });
  return { detector, asked };
}

test('a detector asks the model of its name, and fine-tuned weights of that model', () => {
  const models = modelsWith(plain);
  const own = loaded('own', models);
  assert.deepEqual(own.asked, [{ name: 'own', weights: null }]);
  assert.equal(own.detector.modelDigest, plain.digest);
  const tuned = loaded('tuned', models);
  assert.deepEqual(tuned.asked, [{ name: 'own', weights }]);
  assert.equal(tuned.detector.modelDigest, weights.digest);
  assert.deepEqual(pretrainedModels([detectorConfig({ model: 'tuned' })], models), [plain]);
});

test('a model whose manifest has a digest of state continues that state', () => {
  const state = 'd'.repeat(64);
  const { detector } = loaded('own', modelsWith({ ...plain, manifest: { ...plain.manifest, state } }));
  assert.equal(detector.modelDigest, plain.digest);
  assert.match(detector.digest, /-dddddddddddd$/);
});

test('detectors of the default model continue the state of releases before; those that name tsmodel-1 do not', async () => {
  const catalog = await openCatalog({ modelsDir: null });
  const models = { catalog, byName: catalogModels(catalog) };
  const digestOf = (model: string) => loaded(model, models).detector.digest.split('-')[1];
  assert.equal(digestOf(DETECTOR_DEFAULTS.model), KEPT_SINCE);
  const states = catalog.names.map(digestOf);
  assert.equal(new Set(states).size, catalog.names.length);
});
