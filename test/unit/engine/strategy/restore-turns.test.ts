import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { RestoreTurns } from '../../../../src/engine/strategy/restore-turns.ts';

const { signal } = new AbortController();

test('one restores at a time, in the order of asking; who was stopped leaves the queue', async () => {
  const turns = new RestoreTurns();
  const opened = Array.from({ length: 4 }, () => turns.open());
  const begun: string[] = [];
  const stop = new AbortController();
  const taking = opened.map((turn, i) =>
    turn.take(i === 1 ? stop.signal : signal).then(
      () => begun.push(`${i}`),
      () => begun.push(`${i} stopped`),
    ),
  );
  await setImmediate();
  assert.deepEqual(begun, ['0']);
  stop.abort();
  await taking[1];
  opened[1].end();
  await setImmediate();
  assert.deepEqual(begun, ['0', '1 stopped']);
  opened[0].end();
  opened[0].end();
  await taking[2];
  await setImmediate();
  assert.deepEqual(begun, ['0', '1 stopped', '2']);
  opened[2].end();
  await taking[3];
  assert.deepEqual(begun, ['0', '1 stopped', '2', '3']);
  opened[3].end();
  await turns.open().take(signal);
});

test('a turn is taken once, however often it is asked for', async () => {
  const turns = new RestoreTurns();
  const turn = turns.open();
  await turn.take(signal);
  await turn.take(signal);
  await assert.rejects(turns.open().take(AbortSignal.abort(new Error('stopped'))), /stopped/);
  turn.end();
  await turns.open().take(signal);
});

test('a turn that ends in the moment it begins goes to the next one', async () => {
  const turns = new RestoreTurns();
  const [first, second, third] = [turns.open(), turns.open(), turns.open()];
  await first.take(signal);
  const taking = [second.take(signal), third.take(signal)];
  first.end();
  second.end();
  await Promise.all(taking);
});
