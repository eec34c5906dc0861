import assert from 'node:assert/strict';
import test from 'node:test';
import { flagsOf, joined, jsonOf, jsonPieces } from '../../../../src/api/wire/wire-answer.ts';

test('columns and flags are written as arrays, NaN as null', () => {
  const answer = {
    mean: Float64Array.of(1.5, Number.NaN, -2),
    anomaly: flagsOf([[true], [false, true]]),
    sizes: [3],
    intervals: { 'lo-99.0': joined([Float64Array.of(1), Float64Array.of(2, 3)]), empty: new Float64Array(0) },
    weights_x: null,
    left_out: undefined,
    text: 'a "b"',
    nothing: {},
  };
  assert.deepEqual(JSON.parse(jsonOf(answer)), {
    mean: [1.5, null, -2],
    anomaly: [true, false, true],
    sizes: [3],
    intervals: { 'lo-99.0': [1, 2, 3], empty: [] },
    weights_x: null,
    text: 'a "b"',
    nothing: {},
  });
});

test('the chunks of a long column make one text', () => {
  const mean = Float64Array.from({ length: 20_000 }, (_, i) => i / 3);
  const pieces = [...jsonPieces({ mean })];
  assert.ok(pieces.every((piece) => piece.length < 100_000));
  assert.deepEqual(JSON.parse(pieces.join('')).mean, Array.from(mean));
});
