import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { JobExecutor, JobOutcome, JobRun } from '../../../../src/api/jobs/job.ts';
import { JobQueue } from '../../../../src/api/jobs/job-queue.ts';
import { createLogger } from '../../../../src/ops/logger.ts';
import { StoreClock } from '../../../../src/store/database/store-clock.ts';
import { createApiKey, findKeyById } from '../../../../src/store/keys/api-keys.ts';
import { newKey } from '../../../fixture/store/new-key.ts';
import { postgresTest, sqliteTest } from '../../../fixture/store/stores.ts';

const HOUR_MS = 3_600_000;
const TOKENS = { input_tokens: 1, output_tokens: 0, finetune_tokens: 0 };
/** A machine whose clock is set wrong by so much. */
const setWrong = (byMs: number) => ({ nowMs: () => Date.now() + byMs, monotonicMs: () => performance.now() });

postgresTest('replicas whose clocks differ by hours have the time of the store', async (store, t) => {
  const database = await store.open();
  const clocks = await Promise.all([-HOUR_MS, HOUR_MS].map((byMs) => StoreClock.start(database, setWrong(byMs))));
  t.after(() => clocks.forEach((clock) => void clock.close()));
  const [early, late] = clocks.map((clock) => clock.nowMs());
  assert.ok(Math.abs(early - late) < HOUR_MS / 60, `${early} ${late}`);
  const local = { now: 5 * HOUR_MS, since: 1_000 };
  const clock = await StoreClock.start(database, { nowMs: () => local.now, monotonicMs: () => local.since });
  t.after(() => clock.close());
  const before = clock.nowMs();
  local.since += 250;
  local.now = 0;
  assert.equal(clock.nowMs() - before, 250);
});

sqliteTest('the time of SQLite is that of the process', async (store, t) => {
  const clock = await StoreClock.start(await store.open(), { nowMs: () => 1_234, monotonicMs: () => 0 });
  t.after(() => clock.close());
  assert.equal(clock.nowMs(), 1_234);
});

postgresTest('a replica whose clock is ahead does not take over a job that another one runs', async (store) => {
  const [one, other] = [await store.open(), await store.open()];
  await createApiKey(one, newKey('ann'), 'operator');
  const key = (await findKeyById(one, 'ann'))!;
  const runs: { readonly run: JobRun; end(outcome: JobOutcome): void }[] = [];
  const executor: JobExecutor = {
    run: (run) => new Promise((end) => runs.push({ run, end })),
    close: async () => {},
  };
  const clocks = await Promise.all([StoreClock.start(one), StoreClock.start(other, setWrong(HOUR_MS))]);
  const queues = clocks.map(({ nowMs }, i) => {
    const logger = createLogger('silent');
    return new JobQueue({ database: [one, other][i], executor, nowMs, logger, limits: { heartbeatMs: 5, pollMs: 5 } });
  });
  const caller = { key, requestId: 'r' };
  const body = new Uint8Array([1]);
  const id = await queues[0].submit({ task: 'forecast', caller, tokens: TOKENS, body, timeoutSeconds: 300 });
  while (runs.length === 0) await wait(2);
  queues[1].start();
  // Long enough for the second replica to look for expired leases several times.
  await wait(100);
  assert.deepEqual([runs.length, runs[0].run.signal.aborted], [1, false]);
  runs[0].end({ kind: 'answered', result: body, tokens: TOKENS });
  while ((await queues[1].find('ann', id))?.status !== 'succeeded') await wait(2);
  for (const queue of queues) await queue.close();
  for (const clock of clocks) clock.close();
});
