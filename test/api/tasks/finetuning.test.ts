import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { App } from '../../../src/api/http/exchange/app-services.ts';
import type { ServedModel } from '../../../src/api/models/served-models.ts';
import { readFinetune, runFinetune } from '../../../src/api/tasks/finetune/finetune-task.ts';
import { rollOut } from '../../../src/forecasting/autoregressive-roll-out.ts';
import { shareWeights } from '../../../src/models/tuned-weights.ts';
import type { TuningRequest } from '../../../src/models/tuning/tuning-bytes.ts';
import { createApiKey } from '../../../src/store/keys/api-keys.ts';
import { FINETUNED_MODELS_MAX } from '../../../src/store/models/finetuned-models.ts';
import { ask } from '../../fixture/http/ask.ts';
import { AUTHORIZED, quantileForecaster, startApp } from '../../fixture/http/http-service.ts';
import { openMemoryStore } from '../../fixture/store/memory-store.ts';
import { newKey } from '../../fixture/store/new-key.ts';

const y = Array.from({ length: 60 }, (_, t) => Math.sin(t / 2) + t / 10);
const series = { y, sizes: [60] };
const freq = 'h';

/** A tuning of these tests adds a tenth of its steps, and a thousandth for every value it sees, to all forecasts. */
const shiftOf = (steps: number, seen = 60) => steps / 10 + seen / 1_000;

async function call(app: App, method: 'GET' | 'DELETE', url: string, headers: Record<string, string> = AUTHORIZED) {
  const answer = await app.inject({ method, url, headers });
  return { status: answer.statusCode, body: answer.body === '' ? null : answer.json() };
}

async function tuned(app: App, fields: object = {}): Promise<string> {
  const { status, body } = await ask(app, '/v2/finetune', { series, freq, ...fields });
  assert.equal(status, 200, JSON.stringify(body));
  return body.finetuned_model_id;
}

function assertShifted(moved: number[], plain: number[], shift: number | ((i: number) => number)): void {
  assert.equal(moved.length, plain.length);
  moved.forEach((value, i) => {
    const expected = plain[i] + (typeof shift === 'number' ? shift : shift(i));
    assert.ok(Math.abs(value - expected) < 1e-4, `${i}: ${value}, not ${expected}`);
  });
}

test('a fine-tuned model is stored as requested, and charged', async () => {
  const app = await startApp(undefined, { nowMs: () => Date.UTC(2026, 0, 2) });
  const { body } = await ask(app, '/v2/finetune', { series, freq, finetune_steps: 7, output_model_id: 'my-model_1' });
  assert.deepEqual(body, { input_tokens: 60, output_tokens: 0, finetune_tokens: 7, finetuned_model_id: 'my-model_1' });
  const record = {
    id: 'my-model_1',
    created_at: '2026-01-02T00:00:00.000Z',
    created_by: 'user',
    base_model_id: 'None',
    steps: 7,
    depth: 1,
    loss: 'default',
    model: 'tsmodel-1',
    freq,
  };
  assert.deepEqual(await call(app, 'GET', '/v2/finetuned_models/my-model_1'), { status: 200, body: record });
  assert.deepEqual((await call(app, 'GET', '/v2/finetuned_models')).body, { finetuned_models: [record] });
});

test('a stored model shows the base name that its request used', async () => {
  const app = await startApp();
  const shownAs = async (fields: object) => {
    const id = await tuned(app, fields);
    return (await call(app, 'GET', `/v2/finetuned_models/${id}`)).body.model;
  };
  assert.equal(await shownAs({ model: 'timegpt-1', output_model_id: 'one' }), 'timegpt-1');
  assert.equal(await shownAs({ model: 'timegpt-1', finetuned_model_id: 'one' }), 'timegpt-1');
  assert.equal(await shownAs({ finetuned_model_id: 'one' }), 'tsmodel-1');
  assert.equal(await shownAs({ model: 'unheard-of', finetuned_model_id: 'one' }), 'tsmodel-1');
});

test('without an id the service generates a UUID; ten steps are the default', async () => {
  const app = await startApp();
  const id = await tuned(app, { output_model_id: null });
  assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.equal((await call(app, 'GET', `/v2/finetuned_models/${id}`)).body.steps, 10);
});

test('two values suffice for fine-tuning', async () => {
  const app = await startApp();
  await tuned(app, { series: { y: [1, 2], sizes: [2] }, output_model_id: 'two' });
});

const ENDPOINTS = {
  '/v2/forecast': { h: 4 },
  '/v2/anomaly_detection': {},
  '/v2/historic_forecast': {},
  '/v2/online_anomaly_detection': { h: 4, detection_size: 6 },
  '/v2/cross_validation': { h: 4, n_windows: 2 },
};

for (const [url, fields] of Object.entries(ENDPOINTS)) {
  test(`${url} forecasts with the fine-tuned model of the request`, async () => {
    const app = await startApp();
    const finetuned_model_id = await tuned(app, { output_model_id: 'mine' });
    const request = { series, freq, ...fields };
    const { body: plain } = await ask(app, url, request);
    const { body: moved } = await ask(app, url, { ...request, finetuned_model_id });
    // Forecasts of fewer than 32 values lean towards the last one.
    assertShifted(moved.mean.slice(-12), plain.mean.slice(-12), shiftOf(10));
    assert.equal(moved.finetune_tokens, 0);
    const unknown = await ask(app, url, { ...request, finetuned_model_id: 'other' });
    assert.deepEqual([unknown.status, unknown.body], [404, { detail: 'Finetuned model not found' }]);
  });
}

test('a forecast with steps fine-tunes for this request alone, and is charged for them', async () => {
  const app = await startApp();
  const request = { series, freq, h: 4 };
  const { body: plain } = await ask(app, '/v2/forecast', request);
  const { body: moved } = await ask(app, '/v2/forecast', { ...request, finetune_steps: 5 });
  assertShifted(moved.mean, plain.mean, shiftOf(5));
  assert.equal(moved.finetune_tokens, 5);
  assert.deepEqual((await ask(app, '/v2/forecast', request)).body, plain);
  assert.deepEqual((await call(app, 'GET', '/v2/finetuned_models')).body, { finetuned_models: [] });
});

test('an id of any length is unknown', async () => {
  const app = await startApp();
  for (const id of ['x'.repeat(37), 'x'.repeat(101), 'x'.repeat(8_000)]) {
    const { status, body } = await call(app, 'GET', `/v2/finetuned_models/${id}`);
    assert.deepEqual([status, body], [404, { detail: 'Finetuned model not found' }]);
    assert.equal((await call(app, 'GET', `/v2/forecast/jobs/${id}`)).status, 404);
  }
});

test('detection does not train on the values it scores', async () => {
  const app = await startApp();
  const request = { series, freq, h: 4, detection_size: 6 };
  const { body: plain } = await ask(app, '/v2/online_anomaly_detection', request);
  const { body: moved } = await ask(app, '/v2/online_anomaly_detection', { ...request, finetune_steps: 5 });
  assertShifted(moved.mean, plain.mean, shiftOf(5, 54));
});

test('refit fine-tunes before each window; otherwise the fine-tuning before the first window serves all', async () => {
  const app = await startApp();
  const request = { series: { y: [...y, ...y], sizes: [60, 60] }, freq, h: 4, n_windows: 3, step_size: 5 };
  const { body: plain } = await ask(app, '/v2/cross_validation', request);
  const tuning = { ...request, finetune_steps: 2 };
  const { body: repeated } = await ask(app, '/v2/cross_validation', tuning);
  const seen = (window: number) => 2 * (60 - 4 - (2 - window) * 5);
  assertShifted(repeated.mean, plain.mean, (i) => shiftOf(2, seen(Math.floor(i / 4) % 3)));
  assert.equal(repeated.finetune_tokens, 2 * 2 * 3);
  const { body: once } = await ask(app, '/v2/cross_validation', { ...tuning, refit: false });
  assertShifted(once.mean, plain.mean, shiftOf(2, seen(0)));
  assert.equal(once.finetune_tokens, 2 * 2);
});

test('a derived model does not need its base', async () => {
  const app = await startApp();
  await tuned(app, { output_model_id: 'first' });
  await tuned(app, { output_model_id: 'second', finetuned_model_id: 'first' });
  assert.equal((await call(app, 'GET', '/v2/finetuned_models/second')).body.base_model_id, 'first');
  assert.deepEqual(await call(app, 'DELETE', '/v2/finetuned_models/first'), { status: 204, body: null });
  assert.equal((await call(app, 'GET', '/v2/finetuned_models/first')).status, 404);
  assert.equal((await call(app, 'DELETE', '/v2/finetuned_models/first')).status, 404);
  const request = { series, freq, h: 4 };
  const { body: plain } = await ask(app, '/v2/forecast', request);
  const { body: moved } = await ask(app, '/v2/forecast', { ...request, finetuned_model_id: 'second' });
  assertShifted(moved.mean, plain.mean, 2 * shiftOf(10));
});

test('models are visible, usable and deletable only by keys of their owner', async () => {
  const store = await openMemoryStore();
  const app = await startApp(undefined, { store });
  await createApiKey(store, newKey('bob', { owner: 'bob', secret: 'the-key-of-bob', createdAtMs: 0 }), 'operator');
  const bob = { authorization: 'Bearer the-key-of-bob' };
  await tuned(app, { output_model_id: 'mine' });
  assert.deepEqual((await call(app, 'GET', '/v2/finetuned_models', bob)).body, { finetuned_models: [] });
  assert.equal((await call(app, 'GET', '/v2/finetuned_models/mine', bob)).status, 404);
  assert.equal((await call(app, 'DELETE', '/v2/finetuned_models/mine', bob)).status, 404);
  const payload = { series, freq, h: 4, finetuned_model_id: 'mine' };
  assert.equal((await app.inject({ method: 'POST', url: '/v2/forecast', headers: bob, payload })).statusCode, 404);
  assert.equal((await call(app, 'GET', '/v2/finetuned_models/mine')).status, 200);
});

test('a taken id and a full quota get 422, which clients do not retry', async () => {
  const app = await startApp();
  const refused = async (fields: object) => {
    const { status, body } = await ask(app, '/v2/finetune', { series, freq, finetune_steps: 0, ...fields });
    return [status, body.detail?.[0].loc.join('.')];
  };
  await tuned(app, { output_model_id: 'mine', finetune_steps: 0 });
  assert.deepEqual(await refused({ output_model_id: 'mine' }), [422, 'body.output_model_id']);
  for (let i = 1; i < FINETUNED_MODELS_MAX; i++) await tuned(app, { finetune_steps: 0 });
  assert.deepEqual(await refused({}), [422, 'body.output_model_id']);
  await call(app, 'DELETE', '/v2/finetuned_models/mine');
  await tuned(app, { output_model_id: 'mine', finetune_steps: 0 });
});

test('the horizon warning concerns the model that forecasts, and is omitted where h is ignored', async () => {
  const app = await startApp();
  const warningOf = async (url: string, fields: object) =>
    (await ask(app, url, { series: { y: [...y, ...y], sizes: [120] }, freq, ...fields })).headers.warning;
  const finetuned_model_id = await tuned(app);
  const long = { h: 30, model: 'timegpt-1-long-horizon' };
  assert.equal(await warningOf('/v2/forecast', long), undefined);
  assert.match(String(await warningOf('/v2/forecast', { ...long, finetuned_model_id })), /h 30 is beyond .* \(24\)/);
  assert.match(String(await warningOf('/v2/forecast/async', { ...long, finetuned_model_id })), /h 30 is beyond/);
  assert.match(String(await warningOf('/v2/cross_validation', { h: 30 })), /h 30 is beyond/);
  assert.equal(await warningOf('/v2/cross_validation', { h: 30, full_history: true }), undefined);
});

test('problems of fine-tuning name their fields', async () => {
  const app = await startApp();
  const places = async (fields: object, url = '/v2/finetune') => {
    const { status, body } = await ask(app, url, { series, freq, ...fields });
    assert.equal(status, 422, JSON.stringify(body));
    return body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'));
  };
  assert.deepEqual(await places({ finetune_depth: 6 }), ['body.finetune_depth']);
  assert.deepEqual(await places({ finetune_loss: 'huber' }), ['body.finetune_loss']);
  assert.deepEqual(await places({ finetune_steps: -1 }), ['body.finetune_steps']);
  assert.deepEqual(await places({ finetune_steps: 1_001 }), ['body.finetune_steps']);
  assert.deepEqual(await places({ output_model_id: 'not an id' }), ['body.output_model_id']);
  assert.deepEqual(await places({ output_model_id: 'x'.repeat(37) }), ['body.output_model_id']);
  assert.deepEqual(await places({ model: 'unheard-of' }), ['body.model']);
  assert.deepEqual(await places({ series: { y: [1, 2], sizes: [1, 1] } }), ['body.finetune_steps']);
  const windows = { h: 1, n_windows: 11, finetune_steps: 100 };
  assert.deepEqual(await places(windows, '/v2/cross_validation'), ['body.finetune_steps']);
});

test('a fine-tuning job gives the synchronous answer and stores the model', async () => {
  const app = await startApp();
  const request = { series, freq, output_model_id: 'later' };
  const { status, body } = await ask(app, '/v2/finetune/async', request);
  assert.equal(status, 202);
  let job = await call(app, 'GET', `/v2/finetune/jobs/${body.job_id}`);
  while (job.body.status !== 'succeeded') {
    assert.ok(['pending', 'running'].includes(job.body.status), JSON.stringify(job.body));
    await new Promise((resolve) => setImmediate(resolve));
    job = await call(app, 'GET', `/v2/finetune/jobs/${body.job_id}`);
  }
  assert.equal(job.body.result.finetuned_model_id, 'later');
  assert.equal((await call(app, 'GET', '/v2/finetuned_models/later')).status, 200);
});

test('fine-tuning trains on series without the effects of their variables', async () => {
  const seen: Float64Array[] = [];
  const tune = async ({ series }: TuningRequest) => {
    seen.push(series[0]);
    return shareWeights(new Float32Array(1));
  };
  const forecaster = rollOut(quantileForecaster());
  const tunable = { weightCount: 1, withWeights: () => model, tune };
  const model: ServedModel = { name: 'tsmodel-1', forecaster, seasons: 1, tunable };
  const models = { names: [model.name], find: () => model };
  const load = Float64Array.from(y, (_, t) => (t * 37) % 11);
  const loaded = { y: Float64Array.from(y, (value, t) => value + 5 * load[t]), sizes: [60], X: [load] };
  const finetune = (body: object) =>
    runFinetune(readFinetune({ series: loaded, freq, ...body }, models), new AbortController().signal);
  await finetune({ hist_exog: [0] });
  await finetune({ series: { ...loaded, X: null } });
  const [cleaned, whole] = seen.map((values) => Math.max(...values) - Math.min(...values));
  assert.ok(whole > 50 && cleaned < 15, `${whole} ${cleaned}`);
});

test('fine-tuning refuses a group, and takes fields that are empty', async () => {
  const app = await startApp();
  const { status, body } = await ask(app, '/v2/finetune', { series, freq, multivariate: true });
  assert.deepEqual([status, body.detail[0].loc], [422, ['body', 'multivariate']]);
  for (const multivariate of [null, false]) {
    await tuned(app, { multivariate, hist_exog: null, model_parameters: {}, series: { ...series, X_future: [] } });
  }
});
