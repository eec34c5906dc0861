import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { RestoreTurns } from '../../../../src/engine/strategy/restore-turns.ts';

const { signal } = new AbortController();

test('two restore at once, and the others in the order of asking; who was stopped leaves the queue', async () => {
  const turns = new RestoreTurns();
  const opened = Array.from({ length: 5 }, () => turns.open());
  const begun: number[] = [];
  const stop = new AbortController();
  const taking = opened.map((turn, i) =>
    turn.take(i === 2 ? stop.signal : signal).then(
      () => begun.push(i),
      () => begun.push(-i),
    ),
  );
  await setImmediate();
  assert.deepEqual(begun, [0, 1]);
  stop.abort();
  await taking[2];
  opened[2].end();
  assert.deepEqual(begun, [0, 1, -2]);
  opened[1].end();
  opened[1].end();
  await taking[3];
  await setImmediate();
  assert.deepEqual(begun, [0, 1, -2, 3]);
  opened[0].end();
  await taking[4];
  assert.deepEqual(begun, [0, 1, -2, 3, 4]);
  opened[3].end();
  opened[4].end();
  await Promise.all([turns.open().take(signal), turns.open().take(signal)]);
});

test('a turn is taken once, however often it is asked for', async () => {
  const turns = new RestoreTurns();
  const turn = turns.open();
  await turn.take(signal);
  await turn.take(signal);
  await turns.open().take(signal);
  await assert.rejects(turns.open().take(AbortSignal.abort(new Error('stopped'))), /stopped/);
});
