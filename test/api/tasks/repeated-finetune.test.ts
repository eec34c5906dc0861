import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../../src/ops/logger.ts';
import { ANSWERS_KEPT_MS, pruneAnswers } from '../../../src/store/jobs/idempotent-answers.ts';
import { ask, sender } from '../../fixture/http/ask.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';
import { openMemoryStore } from '../../fixture/store/memory-store.ts';
import { until } from '../../fixture/until.ts';

const y = Array.from({ length: 60 }, (_, t) => Math.sin(t / 2));
const TUNING = { series: { y, sizes: [60] }, freq: 'h', finetune_steps: 3, output_model_id: 'mine' };

async function start() {
  const store = await openMemoryStore();
  const app = await startApp(undefined, { store, key: { credits: 1_000 }, nowMs: () => 1_000 });
  const send = (body: object, key?: string) =>
    sender(app, { ...AUTHORIZED, ...(key !== undefined && { 'idempotency-key': key }) })('POST', '/v2/finetune', body);
  const credits = async () => (await store.query<{ credits: number }>('SELECT credits FROM api_keys'))[0].credits;
  return { store, send, credits };
}

test('a fine-tuning repeated under its Idempotency-Key gets the first answer, and is neither tuned nor charged again', async () => {
  const { store, send, credits } = await start();
  const first = await send(TUNING, 'once');
  assert.equal(first.status, 200, JSON.stringify(first.body));
  const left = await credits();
  const again = await send(TUNING, 'once');
  assert.deepEqual([again.status, again.body, await credits()], [200, first.body, left]);
  const other = await send({ ...TUNING, output_model_id: 'other' }, 'once');
  assert.deepEqual([other.status, other.body.detail[0].loc], [422, ['header', 'idempotency-key']]);
  const taken = await send(TUNING);
  assert.deepEqual([taken.status, taken.body.detail[0].loc], [422, ['body', 'output_model_id']]);
  const models = await store.query('SELECT id FROM finetuned_models');
  assert.deepEqual(models, [{ id: 'mine' }]);
});

test('a fine-tuning that failed can be repeated under its Idempotency-Key', async () => {
  const { store, send, credits } = await start();
  assert.equal((await send(TUNING, 'first')).status, 200);
  const left = await credits();
  assert.equal((await send(TUNING, 'second')).status, 422);
  await store.query("DELETE FROM finetuned_models WHERE id = 'mine'");
  assert.equal(await credits(), left);
  assert.equal((await send(TUNING, 'second')).status, 200);
});

test('of two equal requests at once one is fine-tuned, and the other one is answered with a time to retry', async () => {
  const { store, send } = await start();
  const transaction = store.transaction.bind(store);
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  store.transaction = async (work) => {
    await gate;
    return transaction(work);
  };
  const first = send(TUNING, 'once');
  const refused = await send(TUNING, 'once');
  open();
  assert.deepEqual([(await first).status, refused.status], [200, 409]);
  assert.deepEqual([refused.headers['retry-after'], typeof refused.body.detail], ['5', 'string']);
  assert.equal((await send(TUNING, 'once')).status, 200);
  assert.equal((await store.query('SELECT id FROM finetuned_models')).length, 1);
});

test('answers are kept for a day', async () => {
  const { store, send } = await start();
  await send(TUNING, 'once');
  assert.equal(await pruneAnswers(store, 1_000 + ANSWERS_KEPT_MS), 0);
  assert.equal(await pruneAnswers(store, 1_001 + ANSWERS_KEPT_MS), 1);
});

test('the log of a job names the request that submitted it', async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const app = await startApp(undefined, { logger });
  const FORECAST = { series: TUNING.series, freq: 'h', h: 2 };
  const headers = { ...AUTHORIZED, 'x-request-id': 'mine-1' };
  const { job_id: jobId } = (
    await app.inject({ method: 'POST', url: '/v2/forecast/async', headers, payload: FORECAST })
  ).json();
  await until('it has ended', () => lines.some((line) => line.msg === 'job'), { everyMs: 5 });
  const { jobId: ended, requestId } = lines.find((line) => line.msg === 'job')!;
  assert.deepEqual([ended, requestId], [jobId, 'mine-1']);
  const submitted = lines.find((line) => line.action === 'job-submitted')!;
  assert.deepEqual([submitted.subject, submitted.requestId], [jobId, 'mine-1']);
  assert.equal((await ask(app, '/v2/forecast', FORECAST)).status, 200);
  await app.close();
});
