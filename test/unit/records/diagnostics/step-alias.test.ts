import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepAlias } from '../../../../src/records/diagnostics/step-alias.ts';

test('a measured step is named by the largest unit that fits', () => {
  const named = [300_010, 3_600_000, 5_400_000, 86_000_000, 90_000, 1_000, 250, 0.2].map(stepAlias);
  assert.deepEqual(named, ['5min', 'h', '90min', 'D', '90s', 's', '250ms', '1ms']);
});
