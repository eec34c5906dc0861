import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../../src/store/database.ts';
import { findFinetunedModels } from '../../src/store/finetuned-models.ts';
import { FinetunedWeights } from '../../src/store/finetuned-weights.ts';
import { newModel } from '../fixture/new-model.ts';
import { storeTest, type TestStore } from '../fixture/stores.ts';

const weights = new Uint8Array([1, 2, 3, 255]);
const digest = createHash('sha256').update(weights).digest('hex');
const folderOf = ({ place }: TestStore) => join(place.dataDir, 'models');
const weightsOf = (store: TestStore, database: Database) =>
  new FinetunedWeights(database, store.dialect === 'sqlite' ? folderOf(store) : null);
const filesOf = (store: TestStore) => (existsSync(folderOf(store)) ? readdirSync(folderOf(store)) : []);

storeTest('weights are read as they were kept, by any process', async (store) => {
  const model = newModel('mine', { digest });
  assert.deepEqual(await weightsOf(store, await store.open()).create(model, weights), { kind: 'created' });
  assert.deepEqual(new Uint8Array(await weightsOf(store, await store.open()).read(model)), weights);
});

storeTest('a model that is deleted leaves nothing behind, and the others as they are', async (store) => {
  const database = await store.open();
  const kept = weightsOf(store, database);
  const derived = newModel('derived', { digest, baseModelId: 'mine' });
  await kept.create(newModel('mine', { digest }), weights);
  await kept.create(derived, weights);
  await kept.create(newModel('mine', { owner: 'bob', digest }), weights);
  assert.equal(await kept.delete('ann', 'mine'), true);
  assert.equal(await kept.delete('ann', 'mine'), false);
  assert.deepEqual(new Uint8Array(await kept.read(derived)), weights);
  assert.deepEqual(
    (await findFinetunedModels(database, 'mine')).map(({ owner }) => owner),
    ['bob'],
  );
  assert.equal(filesOf(store).length, store.dialect === 'sqlite' ? 2 : 0);
});

storeTest('what is not kept leaves no file: an id that is taken, one model too many', async (store) => {
  const kept = weightsOf(store, await store.open());
  await kept.create(newModel('mine', { digest }), weights);
  const again = newModel('mine', { digest, createdAtMs: 1 });
  assert.deepEqual(await kept.create(again, weights), { kind: 'id-taken' });
  assert.deepEqual(await kept.create(newModel('other', { digest }), weights, 1), { kind: 'too-many' });
  assert.equal(filesOf(store).length, store.dialect === 'sqlite' ? 1 : 0);
});

storeTest('weights that are damaged are refused, with their id', async (store) => {
  const database = await store.open();
  const kept = weightsOf(store, database);
  const model = newModel('mine', { digest });
  await kept.create(model, weights);
  if (store.dialect === 'sqlite') await writeFile(join(folderOf(store), filesOf(store)[0]), 'damaged');
  else await database.query('UPDATE finetuned_models SET weights = $1', [new Uint8Array([9])]);
  await assert.rejects(kept.read(model), { name: 'ServiceError', code: 'internal', message: /mine are damaged/ });
});
