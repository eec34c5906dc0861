import assert from 'node:assert/strict';
import test from 'node:test';
import { segmentsOf } from '../../../../bench/detection/event-segments.ts';
import { generatedIncidents, INJECTED_KINDS } from '../../../../bench/detection/injected-incidents.ts';

test('a generated series has one incident of every kind where its labels are, the same in every run', () => {
  const made = generatedIncidents(10);
  assert.equal(made.length, 3);
  assert.deepEqual(made, generatedIncidents(10));
  for (const { incidents, labels, channels } of made) {
    assert.deepEqual(incidents.map(({ kind }) => kind).sort(), [...INJECTED_KINDS].sort());
    const actual = incidents.map(({ start, end }) => ({ start, end }));
    assert.deepEqual(actual, segmentsOf(labels));
    assert.ok(channels[0].every(Number.isFinite));
  }
});
