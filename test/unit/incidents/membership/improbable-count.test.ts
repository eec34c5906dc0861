import assert from 'node:assert/strict';
import { test } from 'node:test';
import { improbableCount, improbableCountOfTarget } from '../../../../src/incidents/membership/improbable-count.ts';

const RATES = [0, 1e-6, 0.1, 1, 10, 100, 1_000, 10_000];

test('a count is improbable by the rate of the past, however many events it expects', () => {
  const counts = RATES.map((rate) => improbableCount(rate));
  assert.deepEqual(counts.slice(0, 3), [1, 1, 5]);
  for (const [i, count] of counts.entries()) assert.ok(count > RATES[i] + 4 * Math.sqrt(RATES[i]), String(RATES[i]));
});

test('a count must be some eleven times the target rate of a fleet without a past', () => {
  const counts = RATES.map((rate) => improbableCountOfTarget(rate));
  assert.deepEqual(counts, [0, 1, 5, 16, 117, 1_115, 11_096, 110_910]);
});
