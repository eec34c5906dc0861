import assert from 'node:assert/strict';
import test from 'node:test';
import { type BodyRules, readWireBody } from '../../../../../src/api/wire/body/wire-body.ts';

const RULES: BodyRules = {
  check: () => [],
  fields: {
    series: { y: 'column', sizes: null, X: 'columns', X_future: 'columns' },
    h: null,
    level: 'literals',
    model_parameters: { known: null },
  },
};

const read = (text: string) => {
  const reading = readWireBody(Buffer.from(text), RULES);
  assert.equal(reading.kind, 'body');
  return reading.body as Record<string, unknown>;
};

test('values become float64 with NaN for null; categories of text columns become codes', () => {
  const body = read('{"series":{"y":[1.5,null,3],"sizes":[3],"X":[[1,true,null],["a",2,null]]},"h":2}');
  assert.deepEqual(body, {
    series: {
      y: Float64Array.of(1.5, Number.NaN, 3),
      sizes: [3],
      X: [Float64Array.of(1, 1, Number.NaN), Float64Array.of(0, 1, Number.NaN)],
      texts: [1],
    },
    h: 2,
  });
});

test('a category has the same code in history and future', () => {
  const { series } = read('{"series":{"y":[1,2],"sizes":[2],"X":[[5,6],["b","a"]],"X_future":[[7],["a"]]}}');
  assert.deepEqual(series, {
    y: Float64Array.of(1, 2),
    sizes: [2],
    X: [Float64Array.of(5, 6), Float64Array.of(0, 1)],
    X_future: [Float64Array.of(7), Float64Array.of(1)],
    texts: [1],
  });
  const later = read('{"series":{"y":[1,2],"sizes":[2],"X":[[1,2]],"X_future":[["2"]]}}').series;
  assert.deepEqual((later as { X: unknown }).X, [Float64Array.of(0, 1)]);
  assert.deepEqual((later as { X_future: unknown }).X_future, [Float64Array.of(1)]);
});

test('a level keeps its literal', () => {
  assert.deepEqual(read('{"level": 99.0}').level, { value: 99, text: '99.0' });
  assert.deepEqual(read('{"level":[80, 99.90,80.0]}').level, [
    { value: 80, text: '80' },
    { value: 99.9, text: '99.90' },
    { value: 80, text: '80.0' },
  ]);
  assert.equal(read('{"level":null}').level, null);
});

test('a level elsewhere in the body is not taken for the level', () => {
  const body = read('{"model_parameters":{"level":5},"series":{"y":[],"X":[["\\"level\\": 99.00"]]},"level":99.0}');
  assert.deepEqual(body.level, { value: 99, text: '99.0' });
});

test('unknown fields are dropped, also in nested objects', () => {
  const deep = `${'{"known":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
  const body = read(
    `{"h":2,"other":${deep},"series":{"y":[],"other":1},"model_parameters":{"known":3,"deep":${deep}}}`,
  );
  assert.deepEqual(body, { h: 2, series: { y: new Float64Array(0) }, model_parameters: { known: 3 } });
});

test('invalid JSON names the error', () => {
  assert.equal(readWireBody(Buffer.from('{"h":'), RULES).kind, 'not-json');
});
