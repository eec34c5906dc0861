import assert from 'node:assert/strict';
import {
  countFinetunedModels,
  createFinetunedModel,
  deleteFinetunedModel,
  findFinetunedModel,
  listFinetunedModels,
  readFinetunedWeights,
} from '../../../../src/store/models/finetuned-models.ts';
import { newModel, unrecorded } from '../../../fixture/store/new-model.ts';
import { openedTest, storeTest } from '../../../fixture/store/stores.ts';

openedTest('a fine-tuned model is read as it was created, its weights on request', async (database) => {
  const weights = new Uint8Array([1, 2, 255]);
  const tuned = newModel('mine', { baseModelId: 'older' });
  assert.deepEqual(await createFinetunedModel(database, tuned, { weights, recordEvent: unrecorded }), {
    kind: 'created',
  });
  assert.deepEqual(await findFinetunedModel(database, 'ann', 'mine'), tuned);
  assert.deepEqual(await readFinetunedWeights(database, 'ann', 'mine'), weights);
  await createFinetunedModel(database, newModel('elsewhere'), { weights: null, recordEvent: unrecorded });
  assert.equal(await readFinetunedWeights(database, 'ann', 'elsewhere'), null);
});

openedTest('models are listed newest first', async (database) => {
  for (const [id, createdAtMs] of [
    ['b', 2],
    ['c', 3],
    ['a', 1],
  ] as const) {
    await createFinetunedModel(database, newModel(id, { createdAtMs }), { weights: null, recordEvent: unrecorded });
  }
  const ids = (await listFinetunedModels(database, 'ann')).map(({ id }) => id);
  assert.deepEqual(ids, ['c', 'b', 'a']);
});

openedTest('models are visible and deletable only by their owner', async (database) => {
  await createFinetunedModel(database, newModel('same'), { weights: null, recordEvent: unrecorded });
  assert.deepEqual(
    await createFinetunedModel(database, newModel('same', { owner: 'bob' }), {
      weights: null,
      recordEvent: unrecorded,
    }),
    {
      kind: 'created',
    },
  );
  await createFinetunedModel(database, newModel('only-hers'), { weights: null, recordEvent: unrecorded });
  const ofBob = (await listFinetunedModels(database, 'bob')).map(({ id }) => id);
  assert.deepEqual(ofBob, ['same']);
  assert.equal(await findFinetunedModel(database, 'bob', 'only-hers'), null);
  assert.equal(await readFinetunedWeights(database, 'bob', 'only-hers'), null);
  assert.equal(await deleteFinetunedModel(database, 'bob', 'only-hers'), false);
  assert.equal(await deleteFinetunedModel(database, 'bob', 'same'), true);
  assert.equal(await deleteFinetunedModel(database, 'bob', 'same'), false);
  assert.equal(await countFinetunedModels(database, 'ann'), 2);
});

storeTest('ids are unique and the quota holds under concurrency', async (store) => {
  const databases = await Promise.all([store.open(), store.open()]);
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      databases[i % 2].transaction((sql) =>
        createFinetunedModel(sql, newModel(`m${i >> 1}`), { weights: null, recordEvent: unrecorded, modelsMax: 6 }),
      ),
    ),
  );
  const kinds = Map.groupBy(made, ({ kind }) => kind);
  assert.equal(kinds.get('created')?.length, 6);
  assert.equal(await countFinetunedModels(databases[0], 'ann'), 6);
  const create = async (id: string) => {
    const made = { weights: null, recordEvent: unrecorded, modelsMax: 6 };
    return (await createFinetunedModel(databases[0], newModel(id), made)).kind;
  };
  assert.equal(await create('one-more'), 'too-many');
  const [{ id }] = await listFinetunedModels(databases[0], 'ann');
  assert.equal(await create(id), 'id-taken');
  await deleteFinetunedModel(databases[0], 'ann', id);
  assert.equal(await create('one-more'), 'created');
});

openedTest('a model of an earlier release has its own name', async (database) => {
  await createFinetunedModel(database, newModel('mine'), { weights: null, recordEvent: unrecorded });
  await database.query('UPDATE finetuned_models SET named = NULL');
  assert.equal((await findFinetunedModel(database, 'ann', 'mine'))?.named, 'tsmodel-1');
});
