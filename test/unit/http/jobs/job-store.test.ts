import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job } from '../../../../src/http/jobs/job.ts';
import { JobStore } from '../../../../src/http/jobs/job-store.ts';

const job = (number: number): Job => {
  return { id: `fc-${number}`, task: 'forecast', number, createdMs: 0, status: 'pending', result: null, error: null };
};
const succeeded = (numbers: number) => ({ status: 'succeeded', result: { mean: new Float64Array(numbers) } }) as const;

function storeOf(jobs: number, limits: { endedMax?: number; numbersMax?: number } = {}) {
  const clock = { nowMs: 0 };
  const store = new JobStore(() => clock.nowMs, { keptMs: 100, endedMax: 10, numbersMax: 1_000, ...limits });
  for (let i = 1; i <= jobs; i++) store.add(job(i));
  const kept = () => store.page(Number.POSITIVE_INFINITY, 100).jobs.map(({ number }) => number);
  return { clock, store, kept };
}

test('a result can be fetched until its time is over; a job that has not ended stays', () => {
  const { clock, store, kept } = storeOf(2);
  store.ended('fc-1', succeeded(1));
  clock.nowMs = 99;
  assert.equal(store.find('fc-1')?.status, 'succeeded');
  clock.nowMs = 100;
  assert.equal(store.find('fc-1'), null);
  assert.deepEqual(kept(), [2]);
});

test('of too many jobs that ended, those that ended first are forgotten', () => {
  const { store, kept } = storeOf(4, { endedMax: 2 });
  for (const id of ['fc-3', 'fc-1', 'fc-2']) store.ended(id, { status: 'cancelled' });
  assert.deepEqual(kept(), [4, 2, 1]);
});

test('of too many numbers the oldest results are forgotten, but never the newest', () => {
  const { store, kept } = storeOf(3, { numbersMax: 100 });
  store.ended('fc-1', succeeded(60));
  store.ended('fc-2', succeeded(40));
  assert.deepEqual(kept(), [3, 2, 1]);
  store.ended('fc-3', succeeded(500));
  assert.deepEqual(kept(), [3]);
});

test('the first end counts', () => {
  const { store } = storeOf(1);
  store.ended('fc-1', { status: 'cancelled' });
  store.ended('fc-1', succeeded(1));
  assert.deepEqual(store.find('fc-1'), { ...job(1), status: 'cancelled' });
});

test('jobs that are made or forgotten between two pages move nothing on the next', () => {
  const { store } = storeOf(5);
  const first = store.page(Number.POSITIVE_INFINITY, 2);
  assert.deepEqual([first.jobs.map(({ number }) => number), first.next], [[5, 4], 4]);
  store.add(job(6));
  assert.deepEqual(
    store.page(first.next!, 3).jobs.map(({ number }) => number),
    [3, 2, 1],
  );
  assert.equal(store.page(first.next!, 3).next, null);
});
