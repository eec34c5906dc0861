import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EPOCH_STEPS, FleetPast, levelOf } from '../../../../src/incidents/membership/fleet-past.ts';

const STEP = 60_000;
const EPOCH = EPOCH_STEPS * STEP;
const note = (past: FleetPast, series: string, atMs: number) =>
  past.note({ series, contexts: [`metric ${series}`], atMs, strength: 20 });

test('what happens in an epoch counts from the next but one', () => {
  const past = new FleetPast(STEP, new Map());
  note(past, 'a', 10 * EPOCH);
  assert.equal(past.ratesAt(11 * EPOCH).series, 0);
  const { series, seriesOf } = past.ratesAt(12 * EPOCH);
  assert.equal(series, 1);
  assert.equal(seriesOf.get('metric a'), 1);
});

test('the rate of events falls with the time in which none came', () => {
  const past = new FleetPast(STEP, new Map());
  note(past, 'a', 10 * EPOCH);
  assert.ok(past.ratesAt(40 * EPOCH).perMs < past.ratesAt(12 * EPOCH).perMs / 4);
});

test('what a series has in common comes from its newest event, as of its first one', () => {
  const past = new FleetPast(STEP, new Map());
  note(past, 'a', 10 * EPOCH);
  past.note({ series: 'a', contexts: ['host b'], atMs: 20 * EPOCH, strength: 20 });
  const { seriesOf } = past.ratesAt(12 * EPOCH);
  assert.deepEqual([...seriesOf], [['host b', 1]]);
});

test('epochs are forgotten', () => {
  const changes = new Map<string, string | null>();
  const past = new FleetPast(STEP, changes);
  for (let epoch = 0; epoch < 200; epoch++) note(past, 'a', epoch * EPOCH);
  const kept = [...changes].filter(([key, json]) => key.startsWith('epoch/') && json !== null);
  assert.equal(kept.length, 128);
});

test('series that went together are remembered with the one that led', () => {
  const past = new FleetPast(STEP, new Map());
  for (const epoch of [1, 2, 3]) {
    for (const series of ['b', 'a']) note(past, series, epoch * EPOCH);
    past.learn([
      { series: 'b', atMs: epoch * EPOCH },
      { series: 'a', atMs: epoch * EPOCH + 1 },
    ]);
  }
  assert.deepEqual(past.together('b', 'a', 9 * EPOCH), { both: 3, either: 3, led: 3 });
  assert.deepEqual(past.together('a', 'b', 9 * EPOCH), { both: 3, either: 3, led: 0 });
  assert.equal(past.together('a', 'b', 4 * EPOCH).both, 2, 'what is too new does not count');
});

test('the strength of a series that hardly varied before is ignored', () => {
  assert.deepEqual([null, 15, 32, 64, 900, 1e6].map(levelOf), [0, 0, 1, 2, 3, 0]);
});
