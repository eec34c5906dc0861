import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bindToModel,
  catalogModels,
  type DetectorModels,
  networksBelow,
  tunedModel,
} from '../../src/detector-models.ts';
import { catalogOf, type Model } from '../../src/model/catalog.ts';
import { shareWeights, type TunedWeights } from '../../src/model/tuned-weights.ts';
import { freshFolder } from '../fixture/fresh-folder.ts';
import { arithmeticForecaster } from '../fixture/model/arithmetic-forecaster.ts';
import { writeModel } from '../fixture/model/model-folder.ts';
import { detectorConfig } from '../fixture/stream/stream-run.ts';

const plain = await writeModel(freshFolder(), 'own');
const detection: Model = { ...plain, name: 'own/detection', digest: 'd'.repeat(64) };
const weights = shareWeights(Float32Array.of(1));

function modelsWith(model: Model): DetectorModels {
  const catalog = catalogOf([model], {});
  return { catalog, byName: new Map([...catalogModels(catalog), ['tuned', tunedModel(model, weights)]]) };
}

/** The detector of a model, with what it asks for. */
function bound(model: string, models: DetectorModels) {
  const asked: { name: string; weights: TunedWeights | null | undefined }[] = [];
  const detector = bindToModel(detectorConfig({ model }), models, (name, _, given) => {
    asked.push({ name, weights: given });
    return arithmeticForecaster();
  });
  return { detector, asked };
}

test('a detector asks the network of detection, and its scores have the digest of that', () => {
  const models = modelsWith({ ...plain, detection });
  const { detector, asked } = bound('own', models);
  assert.deepEqual(asked, [{ name: 'own/detection', weights: null }]);
  assert.equal(detector.modelDigest, detection.digest);
  assert.deepEqual(networksBelow([detectorConfig({ model: 'own' })], models), [detection]);
});

test('a network of detection that a model has not had starts no series over', () => {
  const [before, after] = [plain, { ...plain, detection }].map((model) => bound('own', modelsWith(model)).detector);
  assert.notEqual(after.modelDigest, before.modelDigest);
  assert.equal(after.digest, before.digest);
});

test('fine-tuned weights are those of the model itself', () => {
  const models = modelsWith({ ...plain, detection });
  const { detector, asked } = bound('tuned', models);
  assert.deepEqual(asked, [{ name: 'own', weights }]);
  assert.equal(detector.modelDigest, weights.digest);
  assert.deepEqual(networksBelow([detectorConfig({ model: 'tuned' })], models), [{ ...plain, detection }]);
});
