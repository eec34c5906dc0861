import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type RunningCommand, runCommand, startCommand } from '../fixture/command.ts';
import { freshFolder } from '../fixture/served.ts';

const KEY = 'a-key-of-the-tests';
/** Two waves whose lengths do not fit each other, every hour. */
const y = Array.from(
  { length: 400 },
  (_, t) => Math.sin((2 * Math.PI * t) / 17.3) + Math.sin((2 * Math.PI * t) / 41.7),
);
const series = { y, sizes: [y.length] };

let service: RunningCommand;
let url: string;
const folder = await freshFolder();
const env = { DATA_DIR: folder, OPS_PORT: '0', HTTP_PORT: '0', INFERENCE_THREADS: '1' };

before(async () => {
  service = startCommand(['serve'], { ...env, TIDEWATCH_API_KEY: KEY });
  const started = () => service.out.find((line) => line.includes('"serving"'));
  await service.until(() => started() !== undefined);
  url = JSON.parse(started()!).url;
});

after(async () => {
  service.interrupt();
  await service.exitCode;
});

async function post(path: string, body: object) {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const answer = await fetch(new URL(path, url), { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

async function ended(task: string, id: string) {
  for (;;) {
    const headers = { authorization: `Bearer ${KEY}` };
    const job = JSON.parse(await (await fetch(new URL(`/v2/${task}/jobs/${id}`, url), { headers })).text());
    if (!['pending', 'running'].includes(job.status)) return job;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const tuning = { series, freq: 'h', finetune_steps: 2 };

test('what is tuned at once and what is tuned as a job are the same weights, in a file named in no answer', async () => {
  const { status, body } = await post('/v2/finetune', { ...tuning, output_model_id: 'at-once' });
  assert.deepEqual([status, body.finetuned_model_id], [200, 'at-once']);
  const submitted = await post('/v2/finetune/async', { ...tuning, output_model_id: 'as-a-job' });
  const job = await ended('finetune', submitted.body.job_id);
  assert.deepEqual(job.result, { ...body, finetuned_model_id: 'as-a-job' }, JSON.stringify(job));
  const files = await readdir(join(folder, 'models'));
  const contents = await Promise.all(files.map((file) => readFile(join(folder, 'models', file))));
  assert.equal(contents.length, 2);
  assert.ok(contents[0].equals(contents[1]));
});

test('a tuned model forecasts otherwise than the one below it, and the same as a job', async () => {
  const request = { series, freq: 'h', h: 6 };
  const plain = await post('/v2/forecast', request);
  const tuned = await post('/v2/forecast', { ...request, finetuned_model_id: 'at-once' });
  assert.notDeepEqual(tuned.body.mean, plain.body.mean);
  const submitted = await post('/v2/forecast/async', { ...request, finetuned_model_id: 'at-once' });
  const job = await ended('forecast', submitted.body.job_id);
  assert.deepEqual(job.result.mean, tuned.body.mean);
});

test('detectors run on a tuned model by its id, and do not know one that is not there', async () => {
  const file = join(folder, 'waves.csv');
  const rows = y.map((value, t) => `${new Date(Date.UTC(2026, 0, 1) + t * 3_600_000).toISOString()},${value}`);
  await writeFile(file, `timestamp,value\n${rows.join('\n')}\n`);
  const scoresWith = async (model: string) => {
    const flags = ['--freq', 'h', '--h', '4', '--detection-size', '8', '--model', model];
    return runCommand(['backtest', file, ...flags], env);
  };
  const [base, tuned] = [await scoresWith('tsmodel-1'), await scoresWith('at-once')];
  assert.equal(tuned.exitCode, 0, tuned.err.join('\n'));
  assert.equal(tuned.out.length, base.out.length);
  const digests = (lines: readonly string[]) => createHash('sha256').update(lines.join('\n')).digest('hex');
  assert.notEqual(digests(tuned.out), digests(base.out));
  const unknown = await scoresWith('nobody-s');
  assert.notEqual(unknown.exitCode, 0);
  assert.match(unknown.err.join('\n'), /model must be a model there is/);
});
