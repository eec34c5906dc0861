import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { openCatalog } from '../../../src/models/catalog.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { writeModelFolder } from '../../fixture/models/model-folder.ts';

/** Folders as in a deployment: the pretrained models and the operator's own. */
async function folders(): Promise<{ pretrainedDir: string; modelsDir: string }> {
  const dir = freshFolder();
  const [pretrainedDir, modelsDir] = [join(dir, 'pretrained'), join(dir, 'models')];
  await mkdir(pretrainedDir);
  await mkdir(modelsDir);
  return { pretrainedDir, modelsDir };
}

test('models of both folders are listed by name, sorted, without files and hidden folders', async () => {
  const { pretrainedDir, modelsDir } = await folders();
  await writeModelFolder(pretrainedDir, 'tsmodel-1');
  await writeModelFolder(modelsDir, 'own');
  await mkdir(join(modelsDir, '.partial'));
  await writeFile(join(modelsDir, 'README.md'), 'models');
  const catalog = await openCatalog({ pretrainedDir, modelsDir });
  assert.deepEqual(catalog.names, ['own', 'tsmodel-1']);
  const { name, graphPath, digest, manifest } = catalog.get('own');
  assert.deepEqual([name, graphPath], ['own', join(modelsDir, 'own', 'forecast.onnx')]);
  assert.equal(digest, manifest.sha256);
});

test('an unknown model is refused with the names and aliases that are known', async () => {
  const { pretrainedDir, modelsDir } = await folders();
  await writeModelFolder(pretrainedDir, 'tsmodel-1');
  const aliases = { first: 'tsmodel-1', absent: 'tsmodel-9' };
  const catalog = await openCatalog({ pretrainedDir, modelsDir, aliases });
  assert.equal(catalog.get('first').name, 'tsmodel-1');
  const message = 'no model "absent"; known: tsmodel-1, first';
  assert.throws(() => catalog.get('absent'), { code: 'model-unknown', message });
  assert.throws(() => catalog.get('constructor'), { code: 'model-unknown' });
});

test("a model's own name takes precedence over an alias", async () => {
  const { pretrainedDir } = await folders();
  await writeModelFolder(pretrainedDir, 'tsmodel-1');
  await writeModelFolder(pretrainedDir, 'timegpt-1');
  const catalog = await openCatalog({ pretrainedDir, modelsDir: null });
  assert.equal(catalog.get('timegpt-1').name, 'timegpt-1');
  assert.equal(catalog.get('timegpt-2').name, 'tsmodel-1');
});

test('all damaged folders, a duplicate name and a name that is an alias are reported together', async () => {
  const { pretrainedDir, modelsDir } = await folders();
  await writeModelFolder(pretrainedDir, 'tsmodel-1');
  await writeModelFolder(modelsDir, 'tsmodel-1');
  await writeModelFolder(modelsDir, 'bad', { changes: { patch: -1 } });
  await mkdir(join(modelsDir, 'empty'));
  await writeModelFolder(modelsDir, 'timegpt-2.1');
  await assert.rejects(openCatalog({ pretrainedDir, modelsDir }), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'model-invalid');
    const reasons = error.message.split('\n').map((line) => line.slice(`model folder ${modelsDir}/`.length));
    assert.equal(reasons[0], 'bad: patch must be an integer from 1, got -1');
    assert.match(reasons[1], /^empty: manifest\.json cannot be read: ENOENT/);
    assert.equal(reasons[2], 'timegpt-2.1: name timegpt-2.1 is an alias of tsmodel-2.1, which clients rely on');
    assert.equal(reasons[3], `tsmodel-1: name tsmodel-1 is that of the model in ${join(pretrainedDir, 'tsmodel-1')}`);
    return true;
  });
});

test('a models folder that cannot be read is refused', async () => {
  const { pretrainedDir, modelsDir } = await folders();
  await assert.rejects(openCatalog({ pretrainedDir, modelsDir: join(modelsDir, 'absent') }), {
    code: 'model-invalid',
    message: /models folder .*absent cannot be read: ENOENT/,
  });
});
