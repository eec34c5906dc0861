import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOperations } from '../../../../../src/app/processes/operations/run-operations.ts';
import { load } from '../../../../fixture/configuration.ts';

test('before there is a cluster every question about it is rejected, and none throws', async () => {
  const result = load({});
  assert.equal(result.kind, 'config');
  const history = { remote: {}, kafka: () => null } as unknown as Parameters<typeof makeOperations>[0]['history'];
  const { cluster } = makeOperations({ config: result.config, history, detectors: null!, changes: null! });
  const questions = [cluster.historyEnds(), cluster.workers(), cluster.diagnostics(), cluster.redrive(null!)];
  for (const { status } of await Promise.allSettled(questions)) assert.equal(status, 'rejected');
});
