import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Freshness } from '../../../../src/api/wire/schema/operations/freshness-schema.ts';
import { pageNow } from '../../../../src/console/view/page-clock.ts';

const MINUTE_MS = 60_000;
const AT = Date.UTC(2026, 4, 1, 12, 40);
const NEWEST = Date.UTC(2026, 4, 1, 12, 30);
const FRESHNESS: Freshness = {
  at: AT,
  problem: null,
  other_clusters: [],
  newest: NEWEST,
  stored_at: AT - MINUTE_MS,
  series: { judged: 1, calibrating: 0, silent: 0, ended: 0 },
  workers: { members: 1, lag: 0, stalled_since: null },
  incidents: null,
  unwatched: null,
};
const now = (changes: Partial<Freshness>, { laterMs = 0, isLost = false } = {}) =>
  pageNow({ freshness: { ...FRESHNESS, ...changes }, receivedMs: 0, isLost }, laterMs);

test('event time runs from the newest observation, however the clock of the browser is set', () => {
  assert.equal(now({}), NEWEST + MINUTE_MS);
  assert.equal(now({}, { laterMs: 2 * MINUTE_MS }), NEWEST + 3 * MINUTE_MS);
  assert.equal(now({ newest: null, stored_at: null }, { laterMs: 5 }), AT + 5);
  assert.equal(now({ newest: AT + MINUTE_MS }), AT + MINUTE_MS, 'event time may be ahead');
});

const problem = { reason: 'Kafka is unavailable', since: AT - 30_000, due: null };
const workers = { members: 1, lag: 9, stalled_since: null };

test('event time does not move while nothing is read, scored or known', () => {
  const laterMs = 90 * MINUTE_MS;
  assert.equal(now({ problem }, { laterMs }), NEWEST + 30_000);
  assert.equal(now({ problem: { ...problem, due: '1min' } }, { laterMs }), NEWEST);
  assert.equal(now({ workers: { ...workers, stalled_since: AT - 30_000 } }, { laterMs }), NEWEST + 30_000);
  assert.equal(now({ workers: { ...workers, members: 0 } }, { laterMs }), NEWEST);
  assert.equal(now({}, { laterMs, isLost: true }), NEWEST + MINUTE_MS);
});
