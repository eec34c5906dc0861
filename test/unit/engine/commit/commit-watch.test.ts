import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { COMMIT_MS_MAX, CommitWatch } from '../../../../src/engine/commit/commit-watch.ts';

function watched(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const reported: (string | null)[] = [];
  const watch = new CommitWatch((error) => reported.push(error?.message ?? null));
  /** Begins a commit that ends when the test says so. */
  const begin = (nextOffset: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const ended = watch.watch(nextOffset, () => promise);
    return {
      succeed: () => {
        resolve();
        return ended;
      },
      fail: () => {
        reject(new Error('given up'));
        return assert.rejects(ended, /given up/);
      },
    };
  };
  return { watch, reported, begin };
}

test('a commit that ends in time is not reported, even if requests of it were repeated', async (t) => {
  const { watch, reported, begin } = watched(t);
  const commit = begin(5);
  watch.retried(new Error('the leader moved'));
  t.mock.timers.tick(COMMIT_MS_MAX - 1);
  await commit.succeed();
  t.mock.timers.tick(COMMIT_MS_MAX);
  assert.deepEqual([watch.stalled, reported], [null, []]);
});

test('transactions that fail again and again are reported once, until one succeeds', async (t) => {
  const { watch, reported, begin } = watched(t);
  for (let attempt = 0; attempt < 3; attempt++) {
    const commit = begin(5);
    watch.retried(new Error('no leader'));
    t.mock.timers.tick(COMMIT_MS_MAX);
    await commit.fail();
    watch.restored(0);
    assert.equal(watch.stalled?.message, 'no leader');
  }
  await begin(5).succeed();
  assert.deepEqual([watch.stalled, reported], [null, ['no leader', null]]);
});

test('a commit that seemed to fail and is there after the restore stalls nothing', async (t) => {
  const { watch, reported, begin } = watched(t);
  const commit = begin(5);
  t.mock.timers.tick(COMMIT_MS_MAX);
  await commit.fail();
  watch.restored(5);
  assert.equal(watch.stalled, null);
  assert.equal(reported.at(-1), null);
});
