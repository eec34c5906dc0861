import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommitSchedule } from '../../../src/engine/commit-schedule.ts';
import { WorkerPace } from '../../../src/engine/state/worker-pace.ts';

const SECONDS = 10;

/** Commits of partitions that always have something to commit. */
function simulate(partitions: number, intervalMs: number, perSecondMax: number): number[] {
  const pace = new WorkerPace(perSecondMax);
  const schedules = Array.from({ length: partitions }, () => new CommitSchedule(intervalMs, pace));
  const commits = schedules.map(() => 0);
  for (let nowMs = 0; nowMs < 1_000 * SECONDS; nowMs++) {
    for (const [i, schedule] of schedules.entries()) {
      if (schedule.waitMs(nowMs, false) > 0) continue;
      schedule.began(nowMs);
      commits[i]++;
    }
  }
  return commits;
}

test('few partitions commit at their interval', () => {
  assert.deepEqual(simulate(4, 50, 500), [200, 200, 200, 200]);
});

test('the transactions of a worker are bounded, and the interval stretches for all partitions alike', () => {
  const commits = simulate(100, 50, 200);
  const total = commits.reduce((sum, count) => sum + count, 0);
  assert.ok(total <= 200 * SECONDS + 1, `${total} transactions`);
  assert.ok(total > 180 * SECONDS, `${total} transactions`);
  assert.ok(Math.max(...commits) - Math.min(...commits) <= 1, String(commits));
});

test('a full transaction waits for its slot, not for its interval', () => {
  const pace = new WorkerPace(10);
  const [one, other] = [new CommitSchedule(1_000, pace), new CommitSchedule(1_000, pace)];
  assert.equal(one.waitMs(0, true), 0);
  one.began(0);
  assert.equal(one.waitMs(5, false), 995);
  assert.equal(other.waitMs(5, true), 95);
  assert.equal(other.waitMs(100, true), 0);
});
