import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantityText, quantityTexts } from '../../../../src/records/text/quantity-text.ts';

for (const [value, unit, text] of [
  [1_408_000_000_000, 'bytes', '1.281 TiB'],
  [0, 'bytes', '0 B'],
  [-2_048, 'bytes/s', '-2 KiB/s'],
  [12_500_000, 'bits/s', '12.5 Mbit/s'],
  [97.25, 'percent', '97.25 %'],
  [0.125, 'ratio', '12.5 %'],
  [0.25, 'seconds', '250 ms'],
  [5_400, 'seconds', '1.5 h'],
  [0.25, 'milliseconds', '250 µs'],
  [1_500_000, 'microseconds', '1.5 s'],
  [41_267, 'req/s', '41,267 req/s'],
  [41_267.8, null, '41,268'],
  [1_408_000_000_000, null, '1.408T'],
  [0.000_012_34, null, '1.23E-5'],
  [1e15, null, '1000T'],
  [-1.2345e29, null, '-1.235E29'],
  [1.7e38, 'bytes', '1.51E23 PiB'],
  [null, 'bytes', '–'],
] as const) {
  test(`${value} in ${unit ?? 'no unit'} is ${text}`, () => {
    assert.equal(quantityText(value, unit), text);
  });
}

test('values of one sentence that differ are written differently', () => {
  const near = [1_408_600_000_000_000, 1_408_100_000_000_000, 1_408_900_000_000_000];
  assert.deepEqual(quantityTexts(near, null), ['1408.6T', '1408.1T', '1408.9T']);
  assert.deepEqual(quantityTexts(near, 'bytes'), ['1.2511 PiB', '1.2506 PiB', '1.2514 PiB']);
  assert.deepEqual(quantityTexts([1, 1, null], 'bytes'), ['1 B', '1 B', '–']);
});
