import assert from 'node:assert/strict';
import test from 'node:test';
import { type FoldPlan, forecastFolds } from '../../../src/forecasting/folds.ts';
import type { ForecastBatch } from '../../../src/forecasting/forecaster.ts';

const LIMITS = { contextBuckets: [8, 16] };

/** A plan whose forecasts the test resolves: each is the last value of its context. */
function plan(lengths: readonly number[]) {
  const submitted: {
    readonly batch: ForecastBatch;
    readonly answer: () => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  const taken: number[] = [];
  const of: FoldPlan<number> = {
    folds: lengths.map((_, fold) => fold),
    horizon: 1,
    contextLengthOf: (fold) => lengths[fold],
    fill: (fold, target) => target.fill(fold),
    forecast(batch) {
      const { promise, resolve, reject } = Promise.withResolvers<Float32Array>();
      const { rows, contextLength, values } = batch;
      const newest = Float32Array.from({ length: rows }, (_, row) => values[(row + 1) * contextLength - 1]);
      submitted.push({ batch, answer: () => resolve(newest), fail: reject });
      return promise;
    },
    accept(fold, forecast) {
      assert.equal(forecast?.[0], fold);
      taken.push(fold);
    },
  };
  return { of, submitted, taken };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a small request submits all its batches at once, and takes them in order of submission', async () => {
  const { of, submitted, taken } = plan([3, 12, 4]);
  const made = forecastFolds(of, LIMITS);
  const actual = submitted.map(({ batch }) => [batch.contextLength, batch.rows]);
  assert.deepEqual(actual, [
    [8, 2],
    [16, 1],
  ]);
  submitted[1].answer();
  await turn();
  assert.deepEqual(taken, []);
  submitted[0].answer();
  await made;
  assert.deepEqual(taken, [0, 2, 1]);
});

test('folds of one context length are sorted by the values that they have', async () => {
  const { of, submitted, taken } = plan([5, 3, 5, 3]);
  const made = forecastFolds(of, LIMITS);
  submitted[0].answer();
  await made;
  assert.deepEqual(taken, [1, 3, 0, 2]);
});

test('folds of which every quantile is wanted are batches of their own, taken in order of submission', async () => {
  const { of, submitted, taken } = plan([3, 4, 12, 5]);
  const asked: string[] = [];
  const made = forecastFolds(
    {
      ...of,
      quantilesOf: (fold) => (fold % 2 === 0 ? 'all' : 'median'),
      forecast(batch, quantiles) {
        asked.push(`${batch.contextLength} ${batch.rows} ${quantiles}`);
        return of.forecast(batch, quantiles);
      },
    },
    LIMITS,
  );
  for (const { answer } of submitted) answer();
  await made;
  assert.deepEqual(asked, ['8 1 all', '8 2 median', '16 1 all']);
  assert.deepEqual(taken, [0, 1, 3, 2]);
});

test('a large request has a bounded number of rows in flight', async () => {
  const { of, submitted, taken } = plan(new Array(3_000).fill(16));
  const made = forecastFolds(of, LIMITS);
  for (let answered = 0; taken.length + 1_024 < 3_000; answered++) {
    assert.equal(submitted.length, answered + 2);
    assert.ok(submitted.slice(answered).reduce((rows, { batch }) => rows + batch.rows, 0) <= 1_024);
    submitted[answered].answer();
    await turn();
  }
  for (const { answer } of submitted) answer();
  await made;
  assert.deepEqual(taken, [...of.folds]);
});

test('the first failure in order of submission rejects the call', async () => {
  const { of, submitted, taken } = plan([3, 12]);
  const made = forecastFolds(of, LIMITS);
  submitted[1].fail(new Error('second'));
  await turn();
  submitted[0].fail(new Error('first'));
  await assert.rejects(made, /first/);
  assert.deepEqual(taken, []);
});
