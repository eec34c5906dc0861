import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Backtests, WhatIfQuestion } from '../../../src/api/operations/backtests.ts';
import type { Operations } from '../../../src/api/operations/operations.ts';
import type { NewApiKey } from '../../../src/store/keys/api-keys.ts';
import { labelled, reviewEvents } from '../../../src/store/reviews/event-reviews.ts';
import { DETECTORS_TEXT, fakeOperations } from '../../fixture/history/fake-operations.ts';
import { anomalyEvent, batchOf, keptScore, MINUTE_MS, START_MS } from '../../fixture/history/kept-records.ts';
import { ask } from '../../fixture/http/ask.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';
import { imbalances } from '../../fixture/store/ledger.ts';
import { openMemoryStore } from '../../fixture/store/memory-store.ts';
import { until } from '../../fixture/until.ts';

const SERIES = ['a', 'b', 'c'];
const KEPT = 10;
const PER_VALUE = 11;

/** Every series has an event at its second minute, and one at its fifth that lasts unless `direction` is changed. */
const eventsOf = (series: string, isChanged: boolean) =>
  (isChanged ? [1] : [1, 4]).map((minute) => {
    const startedAtMs = START_MS + minute * MINUTE_MS;
    return anomalyEvent(`${series}${minute}`, { series, startedAtMs, endedAtMs: startedAtMs + 1, severity: minute });
  });

/** @param wait called before anything is scored */
function fakeBacktests(wait: (signal: AbortSignal) => Promise<void> = async () => {}): Backtests {
  return {
    backtest: async () => ({ kind: 'problems', problems: ['no files'] }),
    async detectorOf([{ name, model }]) {
      return { kind: 'detector', detector: { name, model, pretrained: model, weights: null } };
    },
    async whatIf({ past, alternatives }, { signal }) {
      await wait(signal);
      if (alternatives.some(({ h }) => h === 9)) return { kind: 'problems', problems: ['h must be at most 4'] };
      return {
        kind: 'scored',
        observations: past.reduce((sum, { values }) => sum + values.length, 0),
        alternatives: alternatives.map((changes) => {
          const events = past.flatMap(({ series }) => eventsOf(series, changes.direction !== undefined));
          return {
            events,
            alarms: events.length,
            weeks: past.length / 2,
            scoredFromMs: null,
            text: JSON.stringify(changes),
          };
        }),
      };
    },
  };
}

interface World {
  readonly backtests?: Backtests;
  readonly key?: Partial<NewApiKey>;
  /** Group of each series. */
  readonly groupOf?: (series: string) => string | null;
  readonly changes?: Partial<Operations>;
}

async function start({ backtests = fakeBacktests(), key = {}, groupOf = () => null, changes = {} }: World = {}) {
  const [store, operations] = [await openMemoryStore(), await fakeOperations(changes)];
  const scores = Array.from({ length: SERIES.length * KEPT }, (_, i) => {
    const series = SERIES[i % SERIES.length];
    return keptScore(i, { series, group: groupOf(series), timestampMs: START_MS + Math.floor(i / 3) * MINUTE_MS });
  });
  await operations.history.append(batchOf({ scores }));
  const app = await startApp(undefined, { store, operations, backtests, key, nowMs: () => START_MS });
  const submit = (body: object) => ask(app, '/v1/what-if/jobs', { detector: 'metrics', ...body });
  const find = async (id: string) =>
    (await app.inject({ url: `/v1/what-if/jobs/${id}`, headers: AUTHORIZED })).json() as {
      readonly status: string;
      readonly error: string | null;
      // biome-ignore lint/suspicious/noExplicitAny: the schema of the answer is checked beside it
      readonly result: any;
    };
  const ended = async (id: string) => {
    await until('the job has ended', async () => !/pending|running/.test((await find(id)).status));
    return find(id);
  };
  return { app, store, submit, ended };
}

test('a what-if of a detector compares the events of all of its series, and marks those that people labelled', async () => {
  const { store, submit, ended } = await start({ key: { credits: 1_000 } });
  for (const [series, real] of [
    ['a', true],
    ['b', false],
  ] as const) {
    const event = eventsOf(series, false)[1];
    const reviewed = { eventId: event.eventId, startedAtMs: event.startedAtMs, record: JSON.stringify(event) };
    await reviewEvents(store, [reviewed], labelled({ atMs: START_MS, by: 'ann', real, note: null }));
  }
  const { status, body } = await submit({ after: { direction: 'down' } });
  assert.equal(status, 202);
  const { result, error } = await ended(body.job_id);
  assert.equal(error, null);
  assert.deepEqual([result.series, result.series_left_out, result.observations], [3, 0, 30]);
  assert.deepEqual([result.only_before, result.only_after, result.both], [3, 0, 3]);
  assert.deepEqual([result.before.events_per_week, result.after.events_per_week], [4, 2]);
  assert.deepEqual(result.labels, {
    real: { labelled: 1, before: 1, after: 0 },
    not_real: { labelled: 1, before: 1, after: 0 },
  });
  const listed = result.events.map((event: { series: string; raised_by: string; real: boolean | null }) => {
    return [event.series, event.raised_by, event.real];
  });
  assert.deepEqual(listed, [
    ['a', 'before', true],
    ['b', 'before', false],
    ['c', 'before', null],
    ['a', 'both', null],
    ['b', 'both', null],
    ['c', 'both', null],
  ]);
  assert.equal(result.after.text, '{"direction":"down"}');
  const [{ credits }] = await store.query<{ credits: number }>('SELECT credits FROM api_keys');
  assert.equal(credits, 1_000 - SERIES.length * KEPT * PER_VALUE);
  assert.deepEqual(await imbalances(store), []);
});

test('a what-if of a detector takes the series that are chosen, and a time', async () => {
  const { submit, ended } = await start();
  const range = { from: START_MS + 2 * MINUTE_MS, to: START_MS + 6 * MINUTE_MS };
  const { body } = await submit({ match: '{__name__=~"a|c"}', ...range, after: {} });
  const { result } = await ended(body.job_id);
  // As much before the range calibrates: two values of each series are kept.
  assert.deepEqual([result.series, result.observations, result.from], [2, 8 + 4, range.from]);
});

test('groups are scored one by one, each with all of its members, and chosen as groups', async () => {
  const asked: (readonly [WhatIfQuestion['group'], string])[] = [];
  const plain = fakeBacktests();
  const backtests: Backtests = {
    ...plain,
    whatIf(question, turn) {
      asked.push([question.group, question.past.map(({ series }) => series).join()]);
      return plain.whatIf(question, turn);
    },
  };
  const { detectors } = await fakeOperations();
  const grouped = DETECTORS_TEXT.replace('freq: min', 'freq: min\n    threshold_method: multivariate\n    group: room');
  const changes = { detectors: { ...detectors, fileText: async () => grouped } };
  const groupOf = (series: string) => (series === 'c' ? 'hall' : 'kitchen');
  const { submit, ended } = await start({ backtests, groupOf, changes });
  const { result, error } = await ended((await submit({ after: {} })).body.job_id);
  assert.equal(error, null);
  assert.deepEqual([result.groups, result.series], [2, 3]);
  assert.deepEqual(asked.toSorted(), [
    ['hall', 'c'],
    ['kitchen', 'a,b'],
  ]);
});

test('what cannot be tried is refused at once, or when it is scored, and costs nothing', async () => {
  const { store, submit, ended } = await start({ key: { credits: 1_000 } });
  const after = { h: 2 };
  assert.equal((await submit({ detector: 'none', after })).status, 404);
  assert.equal((await submit({ match: 'no-*', after })).status, 404);
  const wrong = [{ direction: 'sideways' }, { false_alarms: 'banana' }, { min_deviation: 'far' }, { foo: 1 }];
  for (const changes of wrong) {
    assert.equal((await submit({ after: changes })).status, 422, JSON.stringify(changes));
  }
  assert.equal((await submit({ match: '{', after })).status, 422, 'matchers that cannot be read');
  assert.equal((await submit({ from: 5, to: 1, after })).status, 422, 'a range that ends before it begins');
  const restricted = await start({ key: { models: ['tsmodel-2.1'] } });
  assert.equal((await restricted.submit({ after })).status, 403);
  const { body } = await submit({ after: { h: 9 } });
  const { status, error } = await ended(body.job_id);
  assert.deepEqual([status, error?.includes('h must be at most 4')], ['failed', true]);
  const [{ credits }] = await store.query<{ credits: number }>('SELECT credits FROM api_keys');
  assert.equal(credits, 1_000);
});

test('a what-if of a detector is cancelled as other jobs are, and its scoring stops', async () => {
  const [scoring, stopped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const hanging = fakeBacktests(async (signal) => {
    scoring.resolve();
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    stopped.resolve();
    signal.throwIfAborted();
  });
  const { app, submit, ended } = await start({ backtests: hanging });
  const { body } = await submit({ after: {} });
  await scoring.promise;
  await app.inject({ method: 'POST', url: `/v2/async/jobs/${body.job_id}/cancel`, headers: AUTHORIZED });
  assert.equal((await ended(body.job_id)).status, 'cancelled');
  await stopped.promise;
});
