import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type RunningCommand, runCommand, startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { writeModelFolder } from '../../fixture/models/model-folder.ts';
import { until } from '../../fixture/until.ts';

const KEY = 'the-key-that-the-tests-use';
/** Two waves whose lengths do not fit each other, every hour. */
const y = Array.from(
  { length: 800 },
  (_, t) => Math.sin((2 * Math.PI * t) / 17.3) + Math.sin((2 * Math.PI * t) / 41.7),
);
const series = { y, sizes: [y.length] };

let service: RunningCommand;
let url: string;
let ops: string;
const folder = freshFolder();
const modelsDir = freshFolder();
const env = { DATA_DIR: folder, MODELS_DIR: modelsDir, OPS_PORT: '0', HTTP_PORT: '0', INFERENCE_THREADS: '1' };

before(async () => {
  await writeModelFolder(modelsDir, 'mean');
  service = startCommand(['serve'], { ...env, TIDEWATCH_API_KEY: KEY });
  ({ url, ops } = await service.logged('serving'));
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

async function get(path: string) {
  const answer = await fetch(new URL(path, url), { headers: { authorization: `Bearer ${KEY}` } });
  return JSON.parse(await answer.text());
}

interface Job {
  readonly status: string;
  readonly progress: { readonly step: number; readonly steps: number } | null;
  readonly result: { readonly mean: number[] };
}

async function jobOnce(reached: (job: Job) => boolean, task: string, id: string): Promise<Job> {
  for (;;) {
    const job = await get(`/v2/${task}/jobs/${id}`);
    if (reached(job)) return job;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const isOver = ({ status }: Job) => !['pending', 'running'].includes(status);
const ended = (task: string, id: string) => jobOnce(isOver, task, id);

/** Figures that an operator reads, by name and labels. */
async function figures(): Promise<ReadonlyMap<string, number>> {
  const lines = (await (await fetch(new URL('/metrics', ops))).text()).split('\n');
  return new Map(
    lines.filter((line) => !line.startsWith('#')).map((line) => [line.split(' ')[0], Number(line.split(' ')[1])]),
  );
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

test('a job that tunes shows its steps; one that is cancelled stops, and the next one runs', async () => {
  const long = await post('/v2/finetune/async', { ...tuning, finetune_steps: 1_000, output_model_id: 'never' });
  const id = long.body.job_id;
  const job = await jobOnce((job) => job.progress !== null || isOver(job), 'finetune', id);
  assert.equal(job.status, 'running', JSON.stringify(job));
  assert.equal(job.progress?.steps, 1_000);
  assert.equal((await figures()).get('tidewatch_tunings_running'), 1);
  assert.equal((await post(`/v2/async/jobs/${id}/cancel`, {})).status, 200);
  const next = await post('/v2/forecast/async', { series, freq: 'h', h: 2 });
  assert.equal((await ended('forecast', next.body.job_id)).status, 'succeeded');
  const stopped = 'tidewatch_tunings_total{outcome="stopped"}';
  await until('the stopped one is counted', async () => (await figures()).get(stopped) === 1);
  const counted = await figures();
  assert.equal(counted.get('tidewatch_tunings_total{outcome="tuned"}'), 2);
  assert.equal(counted.get('tidewatch_tunings_running'), 0);
  assert.equal(counted.get('tidewatch_tunings_waiting'), 0);
  assert.equal(counted.get('tidewatch_tuning_seconds_count'), 3);
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

/** The id of each model that was tuned. */
const TUNED = { 'tsmodel-1': 'at-once', 'tsmodel-1-long-horizon': 'far', 'tsmodel-2.1': 'together' };

for (const [model, id] of Object.entries(TUNED)) {
  test(`${model} itself is what is tuned under its name, and on record`, async () => {
    if (id !== 'at-once') {
      const { status, body } = await post('/v2/finetune', { ...tuning, model, output_model_id: id });
      assert.deepEqual([status, body.finetuned_model_id], [200, id], JSON.stringify(body));
    }
    assert.equal((await get(`/v2/finetuned_models/${id}`)).model, model);
    const request = { series, freq: 'h', h: 6 };
    const plain = await post('/v2/forecast', { ...request, model });
    const tuned = await post('/v2/forecast', { ...request, finetuned_model_id: id });
    assert.equal(tuned.status, 200, JSON.stringify(tuned.body));
    assert.notDeepEqual(tuned.body.mean, plain.body.mean);
    const once = await post('/v2/forecast', { ...request, model, finetune_steps: 1 });
    assert.deepEqual([once.status, once.body.finetune_tokens], [200, 1]);
  });
}

test('a tuned tsmodel-2.1 forecasts a group together where it is asked to', async () => {
  const news = Array.from({ length: 600 }, (_, t) => Math.sin(t * t * 12.9898));
  const group = { y: [...news.slice(80), ...news.slice(60, 580)], sizes: [520, 520] };
  const request = { series: group, freq: 'h', h: 6, finetuned_model_id: TUNED['tsmodel-2.1'] };
  const missed = async (multivariate: boolean) => {
    const { body } = await post('/v2/forecast', { ...request, multivariate });
    return body.mean
      .slice(6)
      .reduce((sum: number, value: number, k: number) => sum + Math.abs(value - news[580 + k]), 0);
  };
  assert.ok((await missed(true)) < 0.5 * (await missed(false)));
});

test('a model without graphs for it is not tuned: the answer names the field, and what can be', async () => {
  const body = { ...tuning, model: 'mean' };
  for (const [path, fields, field] of [
    ['/v2/finetune', {}, 'model'],
    ['/v2/finetune', { finetune_steps: 0 }, 'model'],
    ['/v2/forecast', { h: 4 }, 'finetune_steps'],
  ] as const) {
    const answer = await post(path, { ...body, ...fields });
    assert.equal(answer.status, 422);
    const [{ loc, msg }] = answer.body.detail;
    assert.deepEqual(loc, ['body', field]);
    assert.ok(
      msg.endsWith(`model mean cannot be fine-tuned; those that can are ${Object.keys(TUNED).join(', ')}`),
      msg,
    );
  }
});

test('detectors run on a tuned model by its id, and do not know one that is not there', async () => {
  const file = join(folder, 'waves.csv');
  const rows = y.map((value, t) => `${new Date(Date.UTC(2026, 0, 1) + t * 3_600_000).toISOString()},${value}`);
  await writeFile(file, `timestamp,value\n${rows.join('\n')}\n`);
  const scoresWith = async (model: string) => {
    const flags = ['--freq', 'h', '--h', '4', '--detection-size', '8', '--model', model];
    return runCommand(['backtest', file, ...flags], env);
  };
  const digests = (lines: readonly string[]) => createHash('sha256').update(lines.join('\n')).digest('hex');
  for (const names of Object.entries(TUNED)) {
    const [base, tuned] = await Promise.all(names.map(scoresWith));
    assert.equal(tuned.exitCode, 0, tuned.err.join('\n'));
    assert.equal(tuned.out.length, base.out.length);
    assert.notEqual(digests(tuned.out), digests(base.out));
  }
  const unknown = await scoresWith('nobody-s');
  assert.notEqual(unknown.exitCode, 0);
  assert.match(unknown.err.join('\n'), /model must be a model there is/);
});
