import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adoptionText, adoptState } from '../../../../src/engine/offline/adopt-state.ts';
import type { ScoreRecord } from '../../../../src/records/score-record.ts';
import { observationRecord, type StreamRun, streamRun, TOPICS } from '../../../fixture/stream/stream-run.ts';
import type { MemoryBroker } from '../../../fixture/stream-log/memory-log.ts';

const SERIES = ['web-1', 'web-2', 'db'];
const [MOVED, STEPS] = [50, 90];
/** Records that the other cluster has before those that were mirrored: no offset is the same. */
const BEFORE = 7;

function append({ broker }: StreamRun, from: number, to: number): void {
  for (let step = from; step < to; step++) {
    for (const series of SERIES) {
      broker.appendRecord(0, observationRecord(series, step, (step % 5) + (step === 70 ? 40 : 0)));
    }
  }
}

async function score(run: StreamRun): Promise<void> {
  await run.scoreAll();
}

async function adopt(broker: MemoryBroker) {
  const session = await broker.openLog().openPartition(0);
  try {
    return await adoptState(session, TOPICS);
  } finally {
    await session.close();
  }
}

/** Without the places in the input, which differ. */
const judged = (scores: readonly ScoreRecord[]) => scores.map(({ input: _, ...score }) => score);
const letters = ({ broker }: StreamRun) =>
  broker.read(TOPICS.deadLetters, 0).map(({ value }) => (JSON.parse(String(value)) as { reason: string }).reason);

async function scoredThroughout() {
  const run = streamRun();
  append(run, 0, STEPS);
  await score(run);
  return judged(run.scores());
}

/** Scored in one cluster; then everything is mirrored to another, whose group has this offset. */
async function moved(offset: number | null): Promise<StreamRun> {
  const run = streamRun();
  append(run, 0, MOVED);
  await score(run);
  run.broker.recreateInput();
  for (let i = 0; i < BEFORE; i++) run.broker.append(0, null, Buffer.from('before'));
  append(run, 0, STEPS);
  run.broker.moveOffset(0, offset);
  return run;
}

const EXACT = BEFORE + MOVED * SERIES.length;

test('state of another cluster continues at the translated offset, to the scores of a stream that never moved', async () => {
  const run = await moved(EXACT);
  const adoption = await adopt(run.broker);
  assert.deepEqual(adoption, { kind: 'adopted', offset: EXACT, before: MOVED * SERIES.length });
  assert.deepEqual(await adopt(run.broker), { kind: 'own' }, 'it can be run again');
  await score(run);
  assert.deepEqual(judged(run.scores()), await scoredThroughout());
  assert.deepEqual(letters(run), []);
});

test('an offset that is translated too low scores nothing twice: what was scored is late, or a duplicate', async () => {
  const run = await moved(EXACT - 2 * SERIES.length);
  await adopt(run.broker);
  await score(run);
  assert.deepEqual(judged(run.scores()), await scoredThroughout());
  assert.deepEqual(new Set(letters(run)), new Set(['late']));
});

test('without a translated offset nothing is adopted, and the remedy is reported', async () => {
  const run = await moved(null);
  const adoption = await adopt(run.broker);
  assert.deepEqual(adoption, { kind: 'without-offset' });
  assert.match(adoptionText(0, adoption, 'fleet'), /group fleet has no offset here.*translate the offsets/);
  assert.deepEqual(await adopt(streamRun().broker), { kind: 'empty' });
});

test('a worker that starts without it takes the input for one that was created again: its series start over', async () => {
  const run = await moved(EXACT);
  await score(run);
  assert.ok(letters(run).includes('topic-recreated'));
  assert.equal(run.scores().find(({ restarted }) => restarted)?.position, 0);
});
