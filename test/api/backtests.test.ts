import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Backtests, WhatIfOutcome } from '../../src/sidecar/operations/backtests.ts';
import type { NewApiKey } from '../../src/store/api-keys.ts';
import type { Database } from '../../src/store/database/database.ts';
import { labelEvent } from '../../src/store/event-reviews.ts';
import { fakeOperations } from '../fixture/history/fake-operations.ts';
import { anomalyEvent, batchOf, keptScore, MINUTE_MS, START_MS } from '../fixture/history/kept-records.ts';
import { ask } from '../fixture/http/ask.ts';
import { startApp } from '../fixture/http/http-service.ts';
import { imbalances } from '../fixture/store/ledger.ts';
import { openMemoryStore } from '../fixture/store/memory-store.ts';
import { until } from '../fixture/until.ts';

const SERIES = 'host/1 <b>';
const KEPT = 10;
const FILE = { name: 'past.csv', csv: `timestamp,value\n${'2026-01-01T00:00:00Z,1\n'.repeat(9)}never,1\n` };
const ROWS = 10;
const OBSERVATIONS = 9;
/** One token to read an observation, five for what is answered about it. */
const PER_OBSERVATION = 6;
const PER_VALUE = 11;

interface Asked {
  readonly what: 'backtest' | 'what-if';
  readonly owner: string;
  readonly settings: object;
}

/** Scores nothing: problems for h = 9, else an answer of these observations once `answer` allows it. */
function fakeBacktests(answer: (signal: AbortSignal) => Promise<void> = async () => {}) {
  const asked: Asked[] = [];
  const raised = { events: [anomalyEvent('e', { series: SERIES })], alarms: 3, weeks: 1.2, text: 'detectors: []' };
  const backtests: Backtests = {
    async backtest({ settings }, { owner, signal }) {
      asked.push({ what: 'backtest', owner, settings });
      await answer(signal);
      if (settings.h === 9) return { kind: 'problems', problems: ['h must be at most 4'] };
      const json = Buffer.from(JSON.stringify({ kind: 'report', input_tokens: 9, output_tokens: 45 }));
      return { kind: 'report', json, observations: OBSERVATIONS };
    },
    async detectorOf(detectors) {
      const [{ name, model }] = detectors;
      return { kind: 'detector', detector: { name, model, pretrained: model, weights: null } };
    },
    async whatIf({ past, alternatives }, { owner, signal }): Promise<WhatIfOutcome> {
      const [, changes] = alternatives;
      asked.push({ what: 'what-if', owner, settings: { values: [...past[0].values], ...changes } });
      await answer(signal);
      if (changes.h === 9) return { kind: 'problems', problems: ['h must be at most 4'] };
      return {
        kind: 'scored',
        observations: KEPT,
        alternatives: alternatives.map((_, i) => ({ ...raised, alarms: i === 0 ? 3 : 0 })),
      };
    },
  };
  return { backtests, asked };
}

async function start(key: Partial<NewApiKey> = {}, { backtests, asked } = fakeBacktests()) {
  const [store, operations] = [await openMemoryStore(), await fakeOperations()];
  const scores = Array.from({ length: 40 }, (_, i) => keptScore(i, { series: `host/${i % 4} <b>` }));
  await operations.history.append(batchOf({ scores }));
  const app = await startApp(undefined, { store, operations, backtests, key, nowMs: () => START_MS });
  const backtest = (settings: object = {}) => ask(app, '/v1/backtest', { ...FILE, ...settings });
  const whatIf = (changes: object = {}) => ask(app, '/v1/what-if', { series: SERIES, changes });
  return { app, store, asked, backtest, whatIf, creditsLeft: () => creditsOf(store) };
}

async function creditsOf(store: Database): Promise<number | null> {
  const [{ credits }] = await store.query<{ credits: number | null }>('SELECT credits FROM api_keys');
  return credits;
}

test('what if: values that are kept are scored again, and problems of the settings are named', async () => {
  const { app, asked, whatIf } = await start();
  const { body } = await whatIf({ direction: 'up' });
  assert.deepEqual([body.detector, body.observations, body.before.alarms, body.after.alarms], ['metrics', 10, 3, 0]);
  assert.ok(body.before.events_per_week > 0);
  assert.equal(body.before.alarms_per_week, 3 * body.before.events_per_week, 'three alarms of one event');
  const none = { labelled: 0, before: 0, after: 0 };
  assert.deepEqual(body.labels, { real: none, not_real: none });
  assert.deepEqual([body.before.events[0].kind, body.before.events[0].started_at], ['spike', START_MS]);
  const values = [1, 5, 9, 13, 17, 21, 25, 29, 33, 37];
  assert.deepEqual(asked[0], { what: 'what-if', owner: 'the-key', settings: { values, direction: 'up' } });
  const wrong = await whatIf({ h: 9 });
  assert.deepEqual([wrong.status, wrong.body.detail[0].ctx.error], [422, 'h must be at most 4']);
  assert.equal((await ask(app, '/v1/what-if', { series: 'none', changes: {} })).status, 404);
});

test('promises: kept values are scored by each of them, with what people said about the events', async () => {
  const { app, store } = await start();
  const said = anomalyEvent('said', { series: SERIES, startedAtMs: START_MS + 5 * MINUTE_MS });
  const reviewed = { eventId: 'said', startedAtMs: said.startedAtMs, record: JSON.stringify(said) };
  await labelEvent(store, reviewed, { atMs: START_MS, by: 'ann', real: false, note: null });
  const { status, body } = await ask(app, '/v1/what-if/promises', { series: SERIES });
  assert.equal(status, 200);
  assert.deepEqual([body.detector, body.observations, body.promised_per_week], ['metrics', KEPT, 1]);
  const rates = body.promises.map(({ false_alarms }: { false_alarms: string }) => false_alarms);
  assert.deepEqual(rates, ['1/day', '2/week', '1/week', '2/month', '1/month']);
  assert.deepEqual([body.promises[0].events[0].kind, body.promises[0].events[0].real], ['spike', false]);
  assert.equal((await ask(app, '/v1/what-if/promises', { series: 'none' })).status, 404);
});

test('a backtest and a what-if charge the tokens of what was scored; problems cost none', async () => {
  const world = await start({ credits: 1_000 });
  let spent = OBSERVATIONS * PER_OBSERVATION;
  assert.equal((await world.backtest()).status, 200);
  assert.equal(await world.creditsLeft(), 1_000 - spent);
  const { body, headers } = await world.whatIf();
  spent += KEPT * PER_VALUE;
  assert.deepEqual([body.input_tokens + body.output_tokens, headers.ratelimit], [110, '"credits";r=836']);
  assert.equal(await world.creditsLeft(), 1_000 - spent);
  assert.deepEqual((await world.backtest({ h: 9 })).body, { kind: 'problems', problems: ['h must be at most 4'] });
  assert.equal((await world.whatIf({ h: 9 })).status, 422);
  assert.equal(await world.creditsLeft(), 1_000 - spent);
  assert.deepEqual(await imbalances(world.store), []);
});

test('a key without the credits for its rows, or its values, gets 429, and nothing is scored', async () => {
  const files = await start({ credits: ROWS * PER_OBSERVATION - 1 });
  const { status, body } = await files.backtest();
  assert.deepEqual([status, body.code, files.asked], [429, 'A21', []]);
  const values = await start({ credits: KEPT * PER_VALUE - 1 });
  assert.deepEqual([(await values.whatIf()).status, values.asked], [429, []]);
});

test('backtests and what-ifs count towards the calls a minute, also those with problems', async () => {
  const { backtest, whatIf, asked } = await start({ callsPerMinute: 3 });
  const statuses = [await backtest({ h: 9 }), await whatIf(), await whatIf({ h: 9 }), await backtest(), await whatIf()];
  assert.deepEqual(
    statuses.map(({ status }) => status),
    [200, 200, 422, 429, 429],
  );
  assert.equal(asked.length, 3);
});

test('a key makes no more backtests and what-ifs at once than calls', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { backtest, whatIf, asked } = await start(
    { callsAtOnce: 2 },
    fakeBacktests(() => promise),
  );
  const running = [backtest(), whatIf()];
  await until('both run', () => asked.length === 2);
  assert.deepEqual([(await backtest()).status, (await whatIf()).status], [429, 429]);
  resolve();
  for (const { status } of await Promise.all(running)) assert.equal(status, 200);
  assert.equal((await backtest()).status, 200);
});

test('a key that may not use the model gets 403, and nothing is scored', async () => {
  const other = await start({ models: ['tsmodel-2.1'] });
  assert.deepEqual([(await other.backtest()).status, (await other.whatIf()).status, other.asked], [403, 403, []]);
  const own = await start({ models: ['tsmodel-1'] });
  assert.deepEqual([(await own.backtest()).status, (await own.whatIf()).status], [200, 200]);
});

test('a client that hangs up stops the scoring and pays nothing', async (t) => {
  const stopped: unknown[] = [];
  const hanging = fakeBacktests((signal) => {
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        stopped.push(signal.reason);
        reject(signal.reason);
      });
    });
  });
  const { app, asked, creditsLeft, store } = await start({ credits: 1_000 }, hanging);
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  t.after(() => app.close());
  const leave = new AbortController();
  const headers = { authorization: 'Bearer the-key-that-the-tests-use', 'content-type': 'application/json' };
  const sent = fetch(`${url}/v1/backtest`, {
    method: 'POST',
    headers,
    body: JSON.stringify(FILE),
    signal: leave.signal,
  }).catch(() => null);
  await until('it is scored', () => asked.length === 1);
  assert.equal(await creditsLeft(), 1_000 - ROWS * PER_OBSERVATION, 'its rows are held');
  leave.abort();
  await sent;
  await until('it is stopped', () => stopped.length === 1);
  await until('its hold is released', async () => (await creditsLeft()) === 1_000);
  assert.deepEqual(await imbalances(store), []);
});
