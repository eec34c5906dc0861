import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  failed,
  nextPoll,
  partial,
  polled,
  type SourceState,
  STEPS_FIRST,
  STEPS_MAX,
  sourceState,
  tooLarge,
} from '../../../../src/pipelines/poll/poll-plan.ts';

const MIN = 60_000;
const source = (name: string, more = {}) => ({
  name,
  url: 'http://prometheus:9090',
  query: 'up',
  stepMs: MIN,
  delayMs: 30_000,
  historyMs: 10 * MIN,
  headers: {},
  ...more,
});
const NOW = 1_000 * MIN + 40_000;

test('a source begins with its history, and one that was polled at its position, on multiples of its step', () => {
  assert.equal(sourceState(source('a'), null, NOW).nextMs, 991 * MIN);
  assert.equal(sourceState(source('a'), 995 * MIN, NOW).nextMs, 995 * MIN);
  assert.equal(sourceState(source('a', { stepMs: 2 * MIN }), 995 * MIN, NOW).nextMs, 996 * MIN);
});

/** Steps that are asked for, by source. */
function askedOf(states: readonly SourceState[], nowMs = NOW) {
  const plan = nextPoll(states, nowMs);
  return plan.kind === 'wait'
    ? plan.ms
    : plan.asked.map(({ state, fromMs, toMs }) => [state.source.name, fromMs, toMs]);
}

test('only steps that are older than the delay are asked for', () => {
  const state = sourceState(source('a'), null, NOW);
  assert.deepEqual(askedOf([state]), [['a', 991 * MIN, 1_000 * MIN]]);
  assert.deepEqual(askedOf([state], 991 * MIN + 29_999), 1);
  assert.equal(nextPoll([state], 991 * MIN + 30_000).kind, 'ask');
});

test('several sources are asked for the same stretch of time', () => {
  const history = { historyMs: 100_000 * MIN };
  const [a, b] = [sourceState(source('a', history), null, NOW), sourceState(source('b', history), null, NOW)];
  const endMs = a.nextMs + (STEPS_FIRST / 2 - 1) * MIN;
  assert.deepEqual(askedOf([a, b]), [
    ['a', a.nextMs, endMs],
    ['b', b.nextMs, endMs],
  ]);
  const coarse = sourceState(source('c', { ...history, stepMs: 60 * MIN }), a.nextMs, NOW);
  const [, [, , coarseEndMs]] = askedOf([a, coarse]) as [string, number, number][];
  assert.ok(coarseEndMs <= endMs && coarseEndMs > endMs - 60 * MIN, 'by its own step');
  const ahead = sourceState(source('d'), 999 * MIN, NOW);
  assert.deepEqual(askedOf([a, ahead]), [['a', a.nextMs, endMs]], 'the one that is behind comes first');
});

test('a request has at most as many steps as fit, more after each answer, and half after one that is too large', () => {
  let state = sourceState(source('a', { historyMs: 100_000 * MIN }), null, NOW);
  const stepsOf = () => {
    const [[, fromMs, toMs]] = askedOf([state]) as [string, number, number][];
    return { steps: (toMs - fromMs) / MIN + 1, toMs };
  };
  assert.equal(stepsOf().steps, STEPS_FIRST);
  for (let i = 0; i < 6; i++) state = polled(state, stepsOf().toMs);
  assert.equal(stepsOf().steps, STEPS_MAX);
  state = tooLarge(state, STEPS_MAX, { detail: 'large', nowMs: NOW });
  assert.equal(stepsOf().steps, STEPS_MAX / 2);
  assert.equal(state.trouble, null);
  const one = tooLarge(state, 1, { detail: 'large', nowMs: NOW });
  assert.match(String(tooLarge(one, 1, { detail: 'large', nowMs: NOW }).trouble), /narrow the query/);
});

test('others wait for a source that failed once, and continue without one that is in trouble', () => {
  const [a, b] = [sourceState(source('a'), 990 * MIN, NOW), sourceState(source('b'), 998 * MIN, NOW)];
  const once = failed(a, { detail: 'away', nowMs: NOW });
  const twice = failed(once, { detail: 'away', nowMs: NOW });
  assert.deepEqual([once.notBeforeMs - NOW, twice.notBeforeMs - NOW], [1_000, 2_000]);
  assert.deepEqual([once.trouble, twice.trouble], [null, 'away']);
  assert.equal(askedOf([once, b]), 1_000);
  assert.deepEqual(askedOf([twice, b]), [['b', 998 * MIN, 1_000 * MIN]]);
  assert.equal(nextPoll([once], NOW + 1_000).kind, 'ask');
  assert.equal(polled(partial(twice, { detail: 'part', nowMs: NOW }), 995 * MIN).partials, 0);
});
