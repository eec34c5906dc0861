import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Backtests } from '../../../src/api/operations/backtests.ts';
import type { Database } from '../../../src/store/database/database.ts';
import type { NewApiKey } from '../../../src/store/keys/api-keys.ts';
import { fakeOperations } from '../../fixture/history/fake-operations.ts';
import { START_MS } from '../../fixture/history/kept-records.ts';
import { ask } from '../../fixture/http/ask.ts';
import { startApp } from '../../fixture/http/http-service.ts';
import { imbalances } from '../../fixture/store/ledger.ts';
import { openMemoryStore } from '../../fixture/store/memory-store.ts';
import { until } from '../../fixture/until.ts';

const FILE = { name: 'past.csv', csv: `timestamp,value\n${'2026-01-01T00:00:00Z,1\n'.repeat(9)}never,1\n` };
const ROWS = 10;
const OBSERVATIONS = 9;
/** One token to read an observation, five for what is answered about it. */
const PER_OBSERVATION = 6;

interface Asked {
  readonly owner: string;
  readonly settings: object;
}

/** Scores nothing: problems for h = 9, else an answer of these observations once `answer` allows it. */
function fakeBacktests(answer: (signal: AbortSignal) => Promise<void> = async () => {}) {
  const asked: Asked[] = [];
  const backtests: Backtests = {
    async backtest({ settings }, { owner, signal }) {
      asked.push({ owner, settings });
      await answer(signal);
      if (settings.h === 9) return { kind: 'problems', problems: ['h must be at most 4'] };
      const json = Buffer.from(JSON.stringify({ kind: 'report', input_tokens: 9, output_tokens: 45 }));
      return { kind: 'report', json, observations: OBSERVATIONS };
    },
    async detectorOf(detectors) {
      const [{ name, model }] = detectors;
      return { kind: 'detector', detector: { name, model, pretrained: model, weights: null } };
    },
    whatIf: async () => ({ kind: 'problems', problems: ['no what-ifs'] }),
  };
  return { backtests, asked };
}

async function start(key: Partial<NewApiKey> = {}, { backtests, asked } = fakeBacktests()) {
  const [store, operations] = [await openMemoryStore(), await fakeOperations()];
  const app = await startApp(undefined, { store, operations, backtests, key, nowMs: () => START_MS });
  const backtest = (settings: object = {}) => ask(app, '/v1/backtest', { ...FILE, ...settings });
  return { app, store, asked, backtest, creditsLeft: () => creditsOf(store) };
}

async function creditsOf(store: Database): Promise<number | null> {
  const [{ credits }] = await store.query<{ credits: number | null }>('SELECT credits FROM api_keys');
  return credits;
}

test('a backtest charges the tokens of what was scored; problems cost none', async () => {
  const world = await start({ credits: 1_000 });
  const spent = OBSERVATIONS * PER_OBSERVATION;
  assert.equal((await world.backtest()).status, 200);
  assert.equal(await world.creditsLeft(), 1_000 - spent);
  assert.deepEqual((await world.backtest({ h: 9 })).body, { kind: 'problems', problems: ['h must be at most 4'] });
  assert.equal(await world.creditsLeft(), 1_000 - spent);
  assert.deepEqual(await imbalances(world.store), []);
});

test('a key without the credits for its rows gets 429, and nothing is scored', async () => {
  const files = await start({ credits: ROWS * PER_OBSERVATION - 1 });
  const { status, body } = await files.backtest();
  assert.deepEqual([status, body.code, files.asked], [429, 'A21', []]);
});

test('backtests count towards the calls a minute, also those with problems', async () => {
  const { backtest, asked } = await start({ callsPerMinute: 3 });
  const statuses = [await backtest({ h: 9 }), await backtest(), await backtest(), await backtest()];
  const actual = statuses.map(({ status }) => status);
  assert.deepEqual(actual, [200, 200, 200, 429]);
  assert.equal(asked.length, 3);
});

test('a key makes no more backtests at once than calls', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { backtest, asked } = await start(
    { callsAtOnce: 2 },
    fakeBacktests(() => promise),
  );
  const running = [backtest(), backtest()];
  await until('both run', () => asked.length === 2);
  assert.equal((await backtest()).status, 429);
  resolve();
  for (const { status } of await Promise.all(running)) assert.equal(status, 200);
  assert.equal((await backtest()).status, 200);
});

test('a key that may not use the model gets 403, and nothing is scored', async () => {
  const other = await start({ models: ['tsmodel-2.1'] });
  assert.deepEqual([(await other.backtest()).status, other.asked], [403, []]);
  const own = await start({ models: ['tsmodel-1'] });
  assert.equal((await own.backtest()).status, 200);
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
