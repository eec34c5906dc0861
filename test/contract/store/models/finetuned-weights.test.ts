import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../../../../src/store/database/database.ts';
import {
  type CreatedModel,
  type FinetunedModelRecord,
  findFinetunedModels,
  type ModelCreation,
} from '../../../../src/store/models/finetuned-models.ts';
import { FinetunedWeights } from '../../../../src/store/models/finetuned-weights.ts';
import { newModel, unrecorded } from '../../../fixture/store/new-model.ts';
import { sqliteTest, storeTest, type TestStore } from '../../../fixture/store/stores.ts';

const weights = new Uint8Array([1, 2, 3, 255]);
const digest = createHash('sha256').update(weights).digest('hex');
const folderOf = ({ place }: TestStore) => join(place.dataDir, 'models');
function weightsOf(store: TestStore, database: Database): FinetunedWeights {
  const kept = new FinetunedWeights(database, store.dialect === 'sqlite' ? folderOf(store) : null);
  databases.set(kept, database);
  return kept;
}

/** The database of each, to make the transactions that settle calls. */
const databases = new WeakMap<FinetunedWeights, Database>();

/** Stores a model as a call does that is charged for it. */
async function create(
  kept: FinetunedWeights,
  record: FinetunedModelRecord,
  bytes: Uint8Array,
  creation: ModelCreation,
): Promise<CreatedModel> {
  const { commit, discard } = await kept.prepare(record, bytes);
  try {
    const created = await databases.get(kept)!.transaction((sql) => commit(sql, creation));
    if (created.kind !== 'created') await discard();
    return created;
  } catch (error) {
    await discard();
    throw error;
  }
}

const filesOf = (store: TestStore) => (existsSync(folderOf(store)) ? readdirSync(folderOf(store)) : []);

storeTest('weights are read as they were stored, by any process', async (store) => {
  const model = newModel('mine', { digest });
  assert.deepEqual(await create(weightsOf(store, await store.open()), model, weights, { recordEvent: unrecorded }), {
    kind: 'created',
  });
  assert.deepEqual(new Uint8Array(await weightsOf(store, await store.open()).read(model)), weights);
});

storeTest('deleting a model removes its weights and no others', async (store) => {
  const database = await store.open();
  const kept = weightsOf(store, database);
  const derived = newModel('derived', { digest, baseModelId: 'mine' });
  await create(kept, newModel('mine', { digest }), weights, { recordEvent: unrecorded });
  await create(kept, derived, weights, { recordEvent: unrecorded });
  await create(kept, newModel('mine', { owner: 'bob', digest }), weights, { recordEvent: unrecorded });
  assert.equal(await kept.delete('ann', 'mine', unrecorded), true);
  assert.equal(await kept.delete('ann', 'mine', unrecorded), false);
  assert.deepEqual(new Uint8Array(await kept.read(derived)), weights);
  const owners = (await findFinetunedModels(database, 'mine')).map(({ owner }) => owner);
  assert.deepEqual(owners, ['bob']);
  assert.equal(filesOf(store).length, store.dialect === 'sqlite' ? 2 : 0);
});

storeTest('a refused model leaves no file', async (store) => {
  const kept = weightsOf(store, await store.open());
  await create(kept, newModel('mine', { digest }), weights, { recordEvent: unrecorded });
  const again = newModel('mine', { digest, createdAtMs: 1 });
  assert.deepEqual(await create(kept, again, weights, { recordEvent: unrecorded }), { kind: 'id-taken' });
  assert.deepEqual(
    await create(kept, newModel('other', { digest }), weights, { recordEvent: unrecorded, modelsMax: 1 }),
    { kind: 'too-many' },
  );
  assert.equal(filesOf(store).length, store.dialect === 'sqlite' ? 1 : 0);
});

sqliteTest('weights are readable by the owner of the process only', async (store) => {
  const kept = weightsOf(store, await store.open());
  await create(kept, newModel('mine', { digest }), weights, { recordEvent: unrecorded });
  const modeOf = (path: string) => statSync(path).mode & 0o777;
  assert.equal(modeOf(folderOf(store)), 0o700);
  for (const name of filesOf(store)) assert.equal(modeOf(join(folderOf(store), name)), 0o600);
  assert.equal(filesOf(store).length, 1);
});

storeTest('damaged weights are refused with the model id', async (store) => {
  const database = await store.open();
  const kept = weightsOf(store, database);
  const model = newModel('mine', { digest });
  await create(kept, model, weights, { recordEvent: unrecorded });
  if (store.dialect === 'sqlite') await writeFile(join(folderOf(store), filesOf(store)[0]), 'damaged');
  else await database.query('UPDATE finetuned_models SET weights = $1', [new Uint8Array([9])]);
  await assert.rejects(kept.read(model), { name: 'ServiceError', code: 'internal', message: /mine are damaged/ });
});

storeTest('without its audit event a model is neither created nor deleted', async (store) => {
  const database = await store.open();
  const kept = weightsOf(store, database);
  const model = newModel('mine', { digest });
  const fails = () => Promise.reject(new Error('no record'));
  await assert.rejects(create(kept, model, weights, { recordEvent: fails }), /no record/);
  assert.deepEqual(await findFinetunedModels(database, 'mine'), []);
  assert.equal(filesOf(store).length, 0);
  await create(kept, model, weights, { recordEvent: unrecorded });
  await assert.rejects(kept.delete('ann', 'mine', fails), /no record/);
  assert.deepEqual(new Uint8Array(await kept.read(model)), weights);
});

sqliteTest('files that no model names are removed, unless a process may be about to name them', async (store) => {
  const kept = weightsOf(store, await store.open());
  assert.equal(await kept.sweep(0), 0, 'no folder yet');
  const model = newModel('mine', { digest });
  await create(kept, model, weights, { recordEvent: unrecorded });
  const written = 1_800_000_000_000;
  const place = (name: string) => join(folderOf(store), name);
  const files = ['orphan.theta', 'torn.part', 'young.theta', 'notes.txt'];
  for (const name of files) await writeFile(place(name), 'x');
  for (const name of filesOf(store)) {
    const at = new Date(name === 'young.theta' ? written + 60_000 : written);
    await utimes(place(name), at, at);
  }
  assert.equal(await kept.sweep(written + 3_599_999), 0);
  assert.equal(await kept.sweep(written + 3_600_000), 2);
  const left = filesOf(store).filter((name) => files.includes(name));
  assert.deepEqual(left.sort(), ['notes.txt', 'young.theta']);
  assert.deepEqual(new Uint8Array(await kept.read(model)), weights);
});
