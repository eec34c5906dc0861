import assert from 'node:assert/strict';
import { test } from 'node:test';
import { valueOfFormat } from '../../../src/checkpoint/scalar-formats.ts';
import { RESOLUTION_STATE, STEPS_COUNTED } from '../../../src/detection/calibration/resolution.ts';
import { SCALARS } from '../../../src/detection/memory/series-memory.ts';

test('a series that made as many steps as an earlier format counts has made enough of them', () => {
  const steps = SCALARS.resolution + RESOLUTION_STATE.at.steps;
  assert.deepEqual([valueOfFormat(5, steps, 8), valueOfFormat(5, steps, 7)], [STEPS_COUNTED, 7]);
  assert.equal(valueOfFormat(6, steps, 8), 8);
  assert.equal(valueOfFormat(5, steps + 1, 8), 8);
});
