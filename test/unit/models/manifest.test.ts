import assert from 'node:assert/strict';
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { checkManifest, readModelFolder } from '../../../src/models/manifest.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { manifestOf, writeModelFolder } from '../../fixture/models/model-folder.ts';

function problemsOf(changes: Record<string, unknown>): readonly string[] {
  const reading = checkManifest(manifestOf('mean', Buffer.from('graph'), changes));
  return reading.kind === 'problems' ? reading.problems : [];
}

const MEDIAN = { graph: 'median.onnx', sha256: 'a'.repeat(64) };

test('every problem of a manifest is reported at once, each with its key and the value found', () => {
  const problems = problemsOf({
    format: 2,
    name: '../escape',
    graph: '../forecast.onnx',
    patch: 0,
    quantiles: [0.1, 0.9],
    inputs: { values: 'values', observed: '' },
    license: 7,
  });
  assert.deepEqual(problems, [
    'format 2 is newer than what this version reads, which is 1',
    'patch must be an integer from 1, got 0',
    'name must be letters, digits, ".", "-" and "_" (1 to 36), got "../escape"',
    'graph must be the name of a file in the same folder, got "../forecast.onnx"',
    'quantiles must be two or more ascending levels between 0 and 1, among them 0.5, got [0.1,0.9]',
    'inputs.observed must be a name, got ""',
    'inputs.future must be a name, got nothing',
    'license must be a text, got 7',
  ]);
});

for (const [law, changes, key] of [
  ['a context that is no multiple of the patch', { context: 36, context_buckets: [36] }, 'context'],
  ['buckets that do not end at the context', { context_buckets: [8, 16] }, 'context_buckets'],
  ['buckets that do not ascend', { context_buckets: [32, 8, 32] }, 'context_buckets'],
  ['a horizon that is no multiple of the patch', { horizon_max: 20 }, 'horizon_max'],
  ['a context of nothing', { context: 0, context_buckets: [0] }, 'context'],
  ['a context without end', { context: 8e9, context_buckets: [8e9] }, 'context'],
  ['a horizon below 1', { horizon_max: 0 }, 'horizon_max'],
  ['two inputs of one name', { inputs: { values: 'x', observed: 'x', future: 'h' } }, 'inputs'],
  ['a format that never was', { format: 0 }, 'format'],
  ['a name that no request could use', { name: 'n'.repeat(37) }, 'name'],
  ['a graph in another folder', { graph: '../other/forecast.onnx' }, 'graph'],
  ['a graph by its path', { graph: '/etc/forecast.onnx' }, 'graph'],
  ['quantiles that do not ascend', { quantiles: [0.5, 0.1, 0.9] }, 'quantiles'],
  ['one quantile alone, without an interval', { quantiles: [0.5] }, 'quantiles'],
  ['quantiles that reach 1', { quantiles: [0.5, 1] }, 'quantiles'],
  ['a graph of medians by its path', { median: { ...MEDIAN, graph: '../median.onnx' } }, 'median'],
  ['a graph of medians without a digest', { median: { graph: 'median.onnx' } }, 'median'],
  ['a unit of rows that four is no multiple of', { median: { ...MEDIAN, rows_unit: 3 } }, 'median'],
  ['a digest of state that is none', { state: 'tsmodel-1' }, 'state'],
  ['a digest in capitals', { sha256: 'A'.repeat(64) }, 'sha256'],
] as const) {
  test(`${law} is refused`, () => {
    assert.match(problemsOf(changes)[0] ?? 'nothing', new RegExp(`^${key} must (?:be|have)`));
  });
}

test('a run of a graph of medians has a multiple of four rows, unless its manifest sets another number', () => {
  for (const [given, rowsUnit] of [
    [{}, 4],
    [{ rows_unit: 2 }, 2],
  ] as const) {
    const reading = checkManifest(manifestOf('mean', Buffer.from('graph'), { median: { ...MEDIAN, ...given } }));
    assert.equal(reading.kind === 'manifest' && reading.manifest.median?.rowsUnit, rowsUnit);
  }
});

test('a graph that takes groups has a limit of members', () => {
  const inputs = { values: 'values', observed: 'observed', future: 'future', group: 'group' };
  assert.deepEqual(problemsOf({ inputs }), ['members_max must be an integer from 1, got nothing']);
  assert.deepEqual(problemsOf({ inputs, members_max: 8 }), []);
});

test('a manifest that is no object is refused', () => {
  assert.deepEqual(checkManifest([]), { kind: 'problems', problems: ['the manifest must be an object, got []'] });
});

test('a model folder is read with its manifest', async () => {
  const folder = await writeModelFolder(freshFolder(), 'mean');
  const { name, contextBuckets, horizonMax, inputs } = await readModelFolder(folder);
  assert.deepEqual(
    { name, contextBuckets, horizonMax, inputs },
    {
      name: 'mean',
      contextBuckets: [8, 32],
      horizonMax: 24,
      inputs: { values: 'values', observed: 'observed', future: 'future' },
    },
  );
});

test('a graph of medians, which others may add up in another order, is used on x64 alone', async () => {
  const folder = join(import.meta.dirname, '../../../src/models/pretrained/tsmodel-1-detection');
  const medianOn = async (architecture: string) => (await readModelFolder(folder, architecture)).median?.rowsUnit;
  assert.deepEqual([await medianOn('x64'), await medianOn('arm64')], [2, undefined]);
});

test('a graph with another digest than in its manifest is refused, with both digests', async () => {
  const folder = await writeModelFolder(freshFolder(), 'mean');
  await appendFile(join(folder, 'forecast.onnx'), 'x');
  await assert.rejects(readModelFolder(folder), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'model-invalid');
    assert.match(error.message, /mean: forecast\.onnx is damaged or was replaced: its sha256 is [0-9a-f]{64}, not /);
    return true;
  });
});

test('a folder of another name and a missing graph are reported together', async () => {
  const folder = await writeModelFolder(freshFolder(), 'mean', { changes: { name: 'other' } });
  await rm(join(folder, 'forecast.onnx'));
  const expected = /name must be that of the folder, got "other"; forecast\.onnx cannot be read: ENOENT/;
  await assert.rejects(readModelFolder(folder), { code: 'model-invalid', message: expected });
});

test('a manifest that is no JSON is refused', async () => {
  const folder = await writeModelFolder(freshFolder(), 'mean');
  await writeFile(join(folder, 'manifest.json'), '{');
  await assert.rejects(readModelFolder(folder), { code: 'model-invalid', message: /manifest\.json cannot be read/ });
});

test('the fine-tuning part of a manifest is checked, and every problem names its key', () => {
  assert.deepEqual(
    problemsOf({ tuning: { step: { graph: '../step.onnx' }, batch: 0, betas: [2], weights: [[0, 1, 6]] } }),
    [
      'tuning.step must be graph and sha256 of a file in the same folder, got {"graph":"../step.onnx"}',
      'tuning.forecast must be graph and sha256 of a file in the same folder, got nothing',
      'tuning.source must be graph and sha256 of a file in the same folder, got nothing',
      'tuning.batch must be an integer from 1, got 0',
      'tuning.context must be an integer from 1, got nothing',
      'tuning.horizon must be an integer from 1, got nothing',
      'tuning.betas must be two numbers from 0 to below 1, got [2]',
      'tuning.weights must be lists of a byte, a length and a depth from 1 to 5, got [[0,1,6]]',
    ],
  );
});
