import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { zstdCompressSync } from 'node:zlib';
import type { App } from '../../../src/api/http/exchange/app-services.ts';
import type { QuantileForecaster } from '../../../src/forecasting/forecaster.ts';
import { createApiKey } from '../../../src/store/keys/api-keys.ts';
import { ask } from '../../fixture/http/ask.ts';
import { AUTHORIZED, quantileForecaster, startApp } from '../../fixture/http/http-service.ts';
import { openMemoryStore } from '../../fixture/store/memory-store.ts';
import { newKey } from '../../fixture/store/new-key.ts';

const y = Array.from({ length: 120 }, (_, i) => 10 + Math.sin(i / 3) + ((i * 7919) % 13) / 20);
const series = { y, sizes: [60, 60] };
const FORECAST = { series, freq: 'h', h: 5, level: [80, 99.5] };
const TASKS = [
  { task: 'forecast', prefix: 'fc-', url: '/v2/forecast', body: FORECAST },
  { task: 'cross_validation', prefix: 'cv-', url: '/v2/cross_validation', body: { ...FORECAST, n_windows: 2 } },
  {
    task: 'anomaly_detection',
    prefix: 'ad-',
    url: '/v2/online_anomaly_detection',
    body: { series, freq: 'h', h: 4, detection_size: 6, level: 99, refit: true, multivariate: false },
  },
  {
    task: 'explain',
    prefix: 'ex-',
    url: '/v2/explain',
    body: { series: { ...series, X: [y.map((value) => -value), y.map((_, i) => i % 5)] }, method: 'transfer_entropy' },
  },
] as const;

async function get(app: App, url: string) {
  const answer = await app.inject({ url, headers: AUTHORIZED });
  return { status: answer.statusCode, body: answer.json() };
}

const submit = (app: App, task: string, body: object) => ask(app, `/v2/${task}/async`, body);
const cancel = (app: App, id: string) => ask(app, `/v2/async/jobs/${id}/cancel`, '');
const jobOf = async (app: App, task: string, id: string) => (await get(app, `/v2/${task}/jobs/${id}`)).body;

async function ended(app: App, task: string, id: string) {
  for (;;) {
    const job = await jobOf(app, task, id);
    if (job.status !== 'pending' && job.status !== 'running') return job;
    await wait(2);
  }
}

/** Forecasts nothing until it is stopped. */
function stuckForecaster(): QuantileForecaster {
  const never = (_: unknown, signal?: AbortSignal) =>
    new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  return { limits: quantileForecaster().limits, forecast: never, forecastQuantiles: never };
}

for (const { task, prefix, url, body } of TASKS) {
  test(`${task}: the result of a job is the synchronous answer`, async () => {
    const app = await startApp();
    const { status, body: accepted } = await submit(app, task, { ...body, job_options: { timeout_seconds: 60 } });
    assert.equal(status, 202);
    assert.deepEqual(Object.keys(accepted), ['job_id']);
    assert.ok(accepted.job_id.startsWith(prefix));
    const job = await ended(app, task, accepted.job_id);
    const { body: result } = await ask(app, url, body);
    assert.deepEqual(job, { job_id: accepted.job_id, status: 'succeeded', result, error: null, progress: null });
    const other = TASKS.find((known) => known.task !== task)!.task;
    assert.deepEqual(await get(app, `/v2/${other}/jobs/${accepted.job_id}`), {
      status: 404,
      body: { detail: 'Job not found' },
    });
  });

  test(`${task}: an invalid request is refused before a job is created`, async () => {
    const app = await startApp();
    const ofModels = [
      [{ ...body, h: 0 }, ['body', 'h']],
      [{ ...body, model: 'unheard-of' }, ['body', 'model']],
      [{ ...body, finetune_steps: -1 }, ['body', 'finetune_steps']],
    ] as const;
    const wrong = [
      ...('freq' in body ? ofModels : []),
      [{ ...body, series: { ...body.series, sizes: [60] } }, ['body', 'series', 'sizes']],
      [{ ...body, job_options: { timeout_seconds: 0 } }, ['body', 'job_options', 'timeout_seconds']],
      [{ ...body, job_options: { timeout_seconds: 301 } }, ['body', 'job_options', 'timeout_seconds']],
      [{ ...body, job_options: { priority: 1 } }, ['body', 'job_options', 'priority']],
    ] as const;
    for (const [request, loc] of wrong) {
      const { status, body: refusal } = await submit(app, task, request);
      assert.equal(status, 422, JSON.stringify(loc));
      assert.deepEqual(refusal.detail[0].loc, loc);
    }
    if ('freq' in body) assert.equal((await submit(app, task, { ...body, finetuned_model_id: 'mine' })).status, 404);
    assert.deepEqual((await get(app, '/v2/async/jobs')).body, { jobs: [], next_page_token: null });
  });
}

test('jobs run one after the other; a pending and a running job can be cancelled once', async () => {
  const app = await startApp(stuckForecaster());
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push((await submit(app, 'forecast', FORECAST)).body.job_id);
  const [first, second, third] = ids;
  while ((await jobOf(app, 'forecast', first)).status === 'pending') await wait(2);
  const counts = async () => (await get(app, '/v2/async/jobs/status')).body;
  const none = { pending: 0, running: 0 };
  const others = {
    anomaly_detection: none,
    cross_validation: none,
    explain: none,
    finetune: none,
    simulate: none,
    what_if: none,
  };
  assert.deepEqual(await counts(), { ...others, forecast: { pending: 2, running: 1 } });
  for (const id of [second, first]) {
    const answer = await cancel(app, id);
    assert.deepEqual([answer.status, answer.body], [200, { job_id: id, status: 'cancelled' }]);
    const left = { result: null, error: null, progress: null };
    assert.deepEqual(await jobOf(app, 'forecast', id), { job_id: id, status: 'cancelled', ...left });
    assert.equal((await cancel(app, id)).status, 404);
  }
  for (const unknown of ['fc-unknown', `fc-${randomUUID()}`, '%00', 'fc-%27%3B']) {
    assert.equal((await cancel(app, unknown)).status, 404, unknown);
    assert.equal((await get(app, `/v2/forecast/jobs/${unknown}`)).status, 404, unknown);
  }
  while ((await jobOf(app, 'forecast', third)).status === 'pending') await wait(2);
  assert.deepEqual(await counts(), { ...others, forecast: { pending: 0, running: 1 } });
  await app.close();
});

test('a failed job reveals no more than an error answer', async () => {
  const failing = {
    ...stuckForecaster(),
    forecastQuantiles: () => Promise.reject(new Error('a secret of the inside')),
  };
  const app = await startApp(failing);
  const { body } = await submit(app, 'forecast', FORECAST);
  const job = await ended(app, 'forecast', body.job_id);
  assert.deepEqual([job.status, job.result], ['failed', null]);
  assert.match(job.error, /^Internal error/);
});

test('a submission repeated under its Idempotency-Key gets the id of the first job, and is not charged again', async () => {
  const app = await startApp(stuckForecaster(), { key: { credits: 1_000 } });
  const send = async (url: string, payload: object, key?: string) => {
    const headers = { ...AUTHORIZED, ...(key !== undefined && { 'idempotency-key': key }) };
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers, payload });
    return { status: statusCode, body: JSON.parse(body) };
  };
  const url = '/v2/forecast/async';
  const first = await send(url, FORECAST, 'once');
  assert.equal(first.status, 202);
  const again = await Promise.all([send(url, FORECAST, 'once'), send(url, FORECAST, 'once')]);
  for (const { status, body } of again) assert.deepEqual([status, body], [202, first.body]);
  assert.notEqual((await send(url, FORECAST, 'another')).body.job_id, first.body.job_id);
  assert.notEqual((await send(url, FORECAST)).body.job_id, (await send(url, FORECAST)).body.job_id);
  const other = await send(url, { ...FORECAST, h: FORECAST.h + 1 }, 'once');
  assert.deepEqual([other.status, other.body.detail[0].loc], [422, ['header', 'idempotency-key']]);
  assert.equal((await send(url, FORECAST, 'x'.repeat(256))).status, 422);
  const { jobs } = (await app.inject({ url: '/v2/async/jobs', headers: AUTHORIZED })).json();
  assert.equal(jobs.length, 4);
  await app.close();
});

test('too many jobs in flight get 429 with Retry-After, and are accepted once there is room', async () => {
  const requestBytes = 1.2 * zstdCompressSync(JSON.stringify(FORECAST)).length;
  for (const inFlight of [
    { jobsMax: 2, requestBytesMax: 1_000_000 },
    { jobsMax: 9, requestBytesMax: 2 * requestBytes },
  ]) {
    const app = await startApp(stuckForecaster(), { jobLimits: { inFlight } });
    const { body: first } = await submit(app, 'forecast', FORECAST);
    assert.equal((await submit(app, 'forecast', FORECAST)).status, 202);
    const refused = await submit(app, 'forecast', FORECAST);
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers['retry-after']) > 0);
    assert.match(refused.body.detail, /Too many jobs/);
    await cancel(app, first.job_id);
    while ((await submit(app, 'forecast', FORECAST)).status === 429) await wait(2);
    await app.close();
  }
});

test('an unavailable or full store gets 503; stored jobs remain and continue afterwards', async () => {
  const store = await openMemoryStore();
  const app = await startApp(quantileForecaster(), { store });
  const { body: first } = await submit(app, 'forecast', FORECAST);
  await ended(app, 'forecast', first.job_id);
  await store.query('PRAGMA max_page_count = 1');
  const large = { ...FORECAST, series: { y: Array.from({ length: 9_000 }, (_, i) => Math.sin(i)), sizes: [9_000] } };
  const refused = await submit(app, 'forecast', large);
  assert.equal(refused.status, 503);
  assert.ok(Number(refused.headers['retry-after']) > 0);
  assert.equal((await jobOf(app, 'forecast', first.job_id)).status, 'succeeded');
  await store.query('PRAGMA max_page_count = 1000000');
  const { status, body } = await submit(app, 'forecast', large);
  assert.equal(status, 202);
  assert.equal((await ended(app, 'forecast', body.job_id)).status, 'succeeded');
  assert.equal((await get(app, '/v2/async/jobs?status=succeeded')).body.jobs.length, 2);
  await store.close();
  for (const answer of [await submit(app, 'forecast', FORECAST), await get(app, '/v2/async/jobs')]) {
    assert.equal(answer.status, 503);
  }
});

test('jobs are visible and cancellable only by keys of their owner', async () => {
  const store = await openMemoryStore();
  const app = await startApp(stuckForecaster(), { store });
  await createApiKey(store, newKey('another', { secret: 'another-secret' }), 'operator');
  const { body } = await submit(app, 'forecast', FORECAST);
  const headers = { authorization: 'Bearer another-secret' };
  const url = `/v2/async/jobs/${body.job_id}/cancel`;
  assert.equal((await app.inject({ method: 'POST', url, headers })).statusCode, 404);
  assert.equal((await app.inject({ url: `/v2/forecast/jobs/${body.job_id}`, headers })).statusCode, 404);
  assert.deepEqual((await app.inject({ url: '/v2/async/jobs', headers })).json().jobs, []);
  assert.equal((await cancel(app, body.job_id)).status, 200);
});

test('jobs are listed newest first, in pages', async () => {
  const app = await startApp();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push((await submit(app, 'forecast', FORECAST)).body.job_id);
  const seen: string[] = [];
  let query = '?page_size=2';
  for (;;) {
    const { body } = await get(app, `/v2/async/jobs${query}`);
    for (const job of body.jobs) {
      assert.deepEqual(Object.keys(job), ['job_id', 'task_name', 'status', 'created_at']);
      assert.deepEqual([job.task_name, job.created_at], ['forecast', '1970-01-01T00:00:00.000Z']);
      seen.push(job.job_id);
    }
    if (body.next_page_token === null) break;
    query = `?page_size=2&status=running&status=pending&page_token=${body.next_page_token}`;
    const other = `?page_size=2&status=pending&page_token=${body.next_page_token}`;
    assert.equal((await get(app, `/v2/async/jobs${other}`)).status, 422, 'a token of another filter');
  }
  assert.deepEqual(seen, ids.toReversed());
  for (const wrong of ['status=failed&status=x', 'page_token=x', 'page_token=MTIz', `page_token=${'A'.repeat(99)}`]) {
    assert.equal((await get(app, `/v2/async/jobs?${wrong}`)).status, 422, wrong);
  }
});

test('jobs are listed by status, pending and running ones by default, ended ones for a week', async () => {
  let nowMs = 0;
  const app = await startApp(stuckForecaster(), { nowMs: () => nowMs });
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push((await submit(app, 'forecast', FORECAST)).body.job_id);
  await cancel(app, ids[1]);
  const idsOf = async (query: string) => {
    const { body } = await get(app, `/v2/async/jobs${query}`);
    return body.jobs.map(({ job_id }: { job_id: string }) => ids.indexOf(job_id));
  };
  assert.deepEqual(await idsOf(''), [2, 0]);
  assert.deepEqual(await idsOf('?status=cancelled'), [1]);
  assert.deepEqual(
    await idsOf('?status=cancelled&status=pending&status=running&status=failed&page_size=200'),
    [2, 1, 0],
  );
  nowMs = 7 * 86_400_000 - 1;
  assert.deepEqual(await idsOf('?status=cancelled'), [1]);
  assert.equal((await jobOf(app, 'forecast', ids[1])).status, 'cancelled');
  nowMs++;
  assert.deepEqual(await idsOf('?status=cancelled'), []);
  await app.close();
});
