import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventUrgency, urgency } from '../../../src/records/urgency.ts';

test('a grade has one urgency, wherever it is shown or sent', () => {
  assert.deepEqual([null, 0, 0.49, 0.5, 0.79, 0.8, 0.86, 0.9, 1].map(urgency), [
    'usual',
    'usual',
    'usual',
    'warning',
    'warning',
    'error',
    'error',
    'critical',
    'critical',
  ]);
});

test('an event without a grade, or with a low one, is a warning', () => {
  const urgencies = [null, 0.3, 0.5, 0.86, 0.9].map((grade) => eventUrgency({ grade }));
  assert.deepEqual(urgencies, ['warning', 'warning', 'warning', 'error', 'critical']);
});
