/** A model of the operator's own, from its folder to HTTP and to the stream's detectors. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { serve } from '../../fixture/http/served.ts';
import { writeModelFolder } from '../../fixture/models/model-folder.ts';

const MINE = 'mine-and-nobody-elses-key';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('../../../src/models/pretraining/own_model.py', import.meta.url));
/** The environment that `npm run pretrain` makes. */
const PYTHON = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tidewatch/pretraining-venv/bin/python');
const noTorch = await run(PYTHON, ['-c', 'import importlib.util as u; assert u.find_spec("torch")']).then(
  () => false as const,
  () => 'there is no Python with PyTorch: npm run pretrain makes one',
);

async function folder(name: string): Promise<string> {
  const path = join(freshFolder(), name);
  await mkdir(path);
  return path;
}

const wave = (step: number) => 10 + Math.sin(step / 3);

async function assertServed(modelsDir: string, name: string, context: number): Promise<void> {
  const { command, url } = await serve({
    MODELS_DIR: modelsDir,
    DATA_DIR: freshFolder(),
    TIDEWATCH_API_KEY: MINE,
  });
  const ask = async (path: string, body?: object) => {
    const answer = await fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${MINE}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    assert.equal(answer.status, 200, path);
    return answer.json() as Promise<Record<string, never>>;
  };
  const { models } = await ask('/v2/models');
  assert.ok((models as { name: string }[]).some((each) => each.name === name));
  const { detail } = await ask(`/model_params?model=${name}&freq=unheard`);
  assert.deepEqual((detail as { input_size: number }).input_size, context);
  const y = Array.from({ length: 120 }, (_, step) => wave(step));
  const { mean, intervals } = await ask('/v2/forecast', {
    series: { y, sizes: [120] },
    model: name,
    freq: 'D',
    h: 50,
    level: [50],
  });
  assert.equal((mean as number[]).filter((value) => Math.abs(value - 10) < 5).length, 50);
  assert.deepEqual(Object.keys(intervals), ['lo-50', 'hi-50']);
  command.interrupt();
  assert.equal(await command.exitCode, 0);
}

async function assertDetects(modelsDir: string, name: string): Promise<void> {
  const detectors = join(modelsDir, '..', `${name}.yaml`);
  await writeFile(
    detectors,
    `detectors:\n  - { name: own, series: "*", freq: D, h: 4, detection_size: 4, model: ${name} }\n`,
  );
  const rows = Array.from({ length: 120 }, (_, step) => {
    const day = new Date(Date.UTC(2026, 0, 1 + step)).toISOString().slice(0, 10);
    return `${day},${step === 110 ? 90 : wave(step) + ((step * 7919) % 13) / 50}`;
  });
  const csv = join(modelsDir, '..', `${name}.csv`);
  await writeFile(csv, `timestamp,value\n${rows.join('\n')}\n`);
  const scored = await runCommand(['backtest', csv, '--detectors', detectors], { MODELS_DIR: modelsDir });
  assert.equal(scored.exitCode, 0, scored.err.join('\n'));
  const flagged = scored.out.filter((line) => line.includes('true'));
  assert.deepEqual([flagged.length > 0, flagged[0]?.includes('2026-04-21')], [true, true], flagged.join('\n'));
}

test('a folder with a graph and a manifest is listed, served over HTTP, and scores series of a detectors file', async () => {
  const modelsDir = await folder('handmade');
  await writeModelFolder(modelsDir, 'mean');
  const listed = await runCommand(['models'], { MODELS_DIR: modelsDir });
  assert.equal(listed.exitCode, 0, listed.err.join('\n'));
  assert.match(listed.out.join('\n'), /^mean 1\.0\.0 {2}context 32, horizon 24, 1 parameters, sha256 [0-9a-f]{64}$/m);
  await assertServed(modelsDir, 'mean', 32);
  await assertDetects(modelsDir, 'mean');
});

test('models that cannot be used are refused together, each by its folder and with the reason', async () => {
  const modelsDir = await folder('wrong');
  await writeModelFolder(modelsDir, 'crossing', { fault: 'descends' });
  await writeModelFolder(modelsDir, 'other-names', { changes: { output: 'forecast' } });
  for (const command of ['models', 'serve']) {
    const refused = await runCommand([command], {
      MODELS_DIR: modelsDir,
      DATA_DIR: freshFolder(),
      HTTP_PORT: '0',
      OPS_PORT: '0',
    });
    assert.equal(refused.exitCode, 1);
    const text = refused.err.join('\n');
    assert.match(text, /model folder \S+\/wrong\/crossing: the graph forecasts quantiles that cross/);
    assert.match(text, /model folder \S+\/wrong\/other-names: output is "forecast", which the graph does not have/);
  }
});

test('a PyTorch network packed by own_model.py is such a model', { skip: noTorch }, async () => {
  const modelsDir = await folder('packed');
  await run(PYTHON, [SCRIPT, '--out', join(modelsDir, 'seasonal-linear'), '--steps', '20']);
  const listed = await runCommand(['models'], { MODELS_DIR: modelsDir });
  assert.equal(listed.exitCode, 0, listed.err.join('\n'));
  assert.match(listed.out.join('\n'), /^seasonal-linear 1\.0\.0 {2}context 64, horizon 32, 2240 parameters/m);
  await assertServed(modelsDir, 'seasonal-linear', 64);
  await assertDetects(modelsDir, 'seasonal-linear');
});
