import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { FAILING_IN_A_ROW_MAX, isFatal } from '../../../src/engine/failing-records.ts';
import { ServiceError } from '../../../src/ops/service-error.ts';
import { type Fed, streamRun } from '../../fixture/stream/stream-run.ts';
import { virtualTest as test } from '../../fixture/virtual-time.ts';

const RECORDS = 200;

/** A run whose decoder throws on records with these offsets, as a bug would. */
function failingRun(isPoison: (offset: number) => boolean) {
  const run = streamRun();
  const failed: number[] = [];
  let restores = 0;
  const events = {
    recordFailed: (_: number, offset: number) => void failed.push(offset),
    restored: () => void restores++,
  };
  const encodeScore = (score: { input: { offset: number } }) => {
    if (isPoison(score.input.offset)) throw new TypeError('a bug');
    return Buffer.from(JSON.stringify(score));
  };
  const start = () => run.start({ encodeScore: encodeScore as never }, events);
  run.feed(Array.from({ length: RECORDS }, (_, i): Fed => [`s${i % 7}`, Math.floor(i / 7), i % 5]));
  return { run, start, failed, restores: () => restores };
}

test('a poison record becomes a dead letter after it failed alone, and the others are scored', async () => {
  const { run, start, failed, restores } = failingRun((offset) => offset === 137);
  const worker = await start();
  await run.settled();
  await worker.stop();
  assert.deepEqual(failed, [137]);
  assert.deepEqual(run.letters('offset'), ['record-failed 137']);
  const scored = run.scores().map(({ input }) => input.offset);
  const expected = [...Array(RECORDS).keys()].filter((offset) => offset !== 137);
  assert.deepEqual(scored, expected);
  assert.ok(restores() <= 2 + Math.ceil(Math.log2(RECORDS)), `${restores()} restores`);
});

test('a record that the broker refuses for its size is searched as well', async () => {
  const { run } = failingRun(() => false);
  const encodeScore = (score: { input: { offset: number } }) =>
    score.input.offset === 50 ? Buffer.alloc(2 * 1024 * 1024) : Buffer.from(JSON.stringify(score));
  await run.scoreAll({ encodeScore: encodeScore as never });
  assert.deepEqual(run.letters('offset'), ['record-failed 50']);
});

test('when every record fails only some are set aside, the worker lives, and readiness names the reason', async () => {
  const { run, start } = failingRun(() => true);
  const worker = await start();
  let ended = false;
  void worker.finished.then(() => {
    ended = true;
  });
  while (run.deadLetters().length < FAILING_IN_A_ROW_MAX) await sleep(5);
  await sleep(1_000);
  assert.equal(run.deadLetters().length, FAILING_IN_A_ROW_MAX);
  assert.equal(ended, false);
  while (!worker.notReady().join().includes('a bug')) await sleep(5);
  await worker.stop();
});

test('what an operator has to change ends the worker; errors that nobody expected do not', () => {
  assert.equal(isFatal(new ServiceError('configuration', 'refused')), true);
  assert.equal(isFatal(new ServiceError('internal', 'a thread ended')), true);
  assert.equal(isFatal(new ServiceError('fenced', 'a later owner')), false);
  assert.equal(isFatal(new ServiceError('broker-unavailable', 'away', { retryable: true })), false);
  assert.equal(isFatal(new TypeError('a bug')), false);
});
