import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasonsNotReady } from '../../../src/telemetry/readiness.ts';

const READY = { brokerConnected: true, assigned: true, restoring: [] };

test('a worker that is connected, assigned and restored is ready', () => {
  assert.deepEqual(reasonsNotReady(READY), []);
});

test('each thing that is missing is a reason', () => {
  assert.deepEqual(reasonsNotReady({ ...READY, brokerConnected: false }), ['Kafka is out of reach']);
  assert.deepEqual(reasonsNotReady({ ...READY, assigned: false }), ['no partitions were assigned yet']);
  assert.deepEqual(reasonsNotReady({ ...READY, restoring: [0, 3] }), ['state is being restored: partitions 0, 3']);
  assert.equal(reasonsNotReady({ brokerConnected: false, assigned: false, restoring: [1] }).length, 3);
});
