import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputBytes, outputBytes, readInput, readOutput } from '../../../../src/models/tuning/tuning-bytes.ts';

test('input and output survive the way to the child and back', () => {
  const input = {
    model: 'tsmodel-1',
    base: Float32Array.of(1, 2),
    series: [Float64Array.of(1, Number.NaN), new Float64Array(0)],
    horizon: 3,
    contexts: [64],
    steps: 10,
    loss: 'mae',
    depth: 5,
  } as const;
  assert.deepEqual(readInput(inputBytes(input)), input);
  for (const validation of [{ before: 2, after: 1.5 }, null]) {
    const tuned = { theta: Float32Array.of(0.5, -1), step: 7, coefficient: 0.25, validation };
    const bytes = outputBytes(tuned);
    const shifted = new Uint8Array(bytes.length + 3);
    shifted.set(bytes, 3);
    assert.deepEqual(readOutput(shifted.subarray(3)), tuned);
  }
});
