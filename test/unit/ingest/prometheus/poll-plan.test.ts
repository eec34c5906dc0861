import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  failed,
  nextPoll,
  partial,
  polled,
  STEPS_FIRST,
  STEPS_MAX,
  sourceState,
  tooLarge,
} from '../../../../src/ingest/prometheus/poll-plan.ts';

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

test('only steps that are older than the delay are asked for', () => {
  const state = sourceState(source('a'), null, NOW);
  const plan = nextPoll([state], NOW);
  assert.deepEqual(plan, { kind: 'ask', state, fromMs: 991 * MIN, toMs: 1_000 * MIN });
  assert.deepEqual(nextPoll([state], 991 * MIN + 29_999), { kind: 'wait', ms: 1 });
  assert.equal(nextPoll([state], 991 * MIN + 30_000).kind, 'ask');
});

test('of several sources the one that is furthest behind is asked', () => {
  const [a, b] = [sourceState(source('a'), 998 * MIN, NOW), sourceState(source('b'), 992 * MIN, NOW)];
  const plan = nextPoll([a, b], NOW);
  assert.ok(plan.kind === 'ask');
  assert.equal(plan.state.source.name, 'b');
});

test('a request has at most as many steps as fit, more after each answer, and half after one that is too large', () => {
  let state = sourceState(source('a', { historyMs: 100_000 * MIN }), null, NOW);
  const stepsOf = () => {
    const plan = nextPoll([state], NOW);
    assert.ok(plan.kind === 'ask');
    return { steps: (plan.toMs - plan.fromMs) / MIN + 1, toMs: plan.toMs };
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

test('after failures a source waits longer and longer, and others are asked meanwhile', () => {
  const [a, b] = [sourceState(source('a'), 990 * MIN, NOW), sourceState(source('b'), 998 * MIN, NOW)];
  const once = failed(a, { detail: 'away', nowMs: NOW });
  const twice = failed(once, { detail: 'away', nowMs: NOW });
  assert.deepEqual([once.notBeforeMs - NOW, twice.notBeforeMs - NOW], [1_000, 2_000]);
  assert.deepEqual([once.trouble, twice.trouble], [null, 'away']);
  const plan = nextPoll([once, b], NOW);
  assert.ok(plan.kind === 'ask' && plan.state.source.name === 'b');
  assert.equal(nextPoll([once], NOW + 1_000).kind, 'ask');
  assert.equal(polled(partial(twice, { detail: 'part', nowMs: NOW }), 995 * MIN).partials, 0);
});
