import assert from 'node:assert/strict';
import test from 'node:test';
import { type FoldPlan, forecastFolds } from '../../../src/forecast/folds.ts';
import type { ForecastBatch } from '../../../src/forecast/forecaster.ts';

const LIMITS = { contextBuckets: [8, 16] };

/** A plan whose forecasts are answered when the test says so: each is the first value of its context. */
function plan(seen: readonly number[]) {
  const asked: { readonly batch: ForecastBatch; readonly answer: () => void; readonly fail: (error: Error) => void }[] =
    [];
  const taken: number[] = [];
  const of: FoldPlan<number> = {
    folds: seen.map((_, fold) => fold),
    horizon: 1,
    contextLengthOf: (fold) => seen[fold],
    fill: (fold, target) => target.fill(fold),
    forecast(batch) {
      const { promise, resolve, reject } = Promise.withResolvers<Float32Array>();
      const { rows, contextLength, values } = batch;
      const newest = Float32Array.from({ length: rows }, (_, row) => values[(row + 1) * contextLength - 1]);
      asked.push({ batch, answer: () => resolve(newest), fail: reject });
      return promise;
    },
    take(fold, forecast) {
      assert.equal(forecast?.[0], fold);
      taken.push(fold);
    },
  };
  return { of, asked, taken };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a small request asks for all its forecasts at once, and takes them in order whichever comes first', async () => {
  const { of, asked, taken } = plan([3, 12, 4]);
  const made = forecastFolds(of, LIMITS);
  assert.deepEqual(
    asked.map(({ batch }) => [batch.contextLength, batch.rows]),
    [
      [8, 2],
      [16, 1],
    ],
  );
  asked[1].answer();
  await turn();
  assert.deepEqual(taken, []);
  asked[0].answer();
  await made;
  assert.deepEqual(taken, [0, 2, 1]);
});

test('of a large request only so many rows are under way that memory is bounded', async () => {
  const { of, asked, taken } = plan(new Array(3_000).fill(16));
  const made = forecastFolds(of, LIMITS);
  for (let answered = 0; taken.length + 1_024 < 3_000; answered++) {
    assert.equal(asked.length, answered + 2);
    assert.ok(asked.slice(answered).reduce((rows, { batch }) => rows + batch.rows, 0) <= 1_024);
    asked[answered].answer();
    await turn();
  }
  for (const { answer } of asked) answer();
  await made;
  assert.deepEqual(taken, [...of.folds]);
});

test('the first failure, in order, is the failure of all', async () => {
  const { of, asked, taken } = plan([3, 12]);
  const made = forecastFolds(of, LIMITS);
  asked[1].fail(new Error('second'));
  await turn();
  asked[0].fail(new Error('first'));
  await assert.rejects(made, /first/);
  assert.deepEqual(taken, []);
});
