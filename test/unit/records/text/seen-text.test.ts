import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numberTexts } from '../../../../src/records/text/seen-text.ts';

test('numbers without a unit keep their whole digits up to 1e16, and have an exponent and four digits beyond', () => {
  assert.deepEqual(numberTexts([4_673_714_148, 3_840_000_000], null), ['4673714148', '3840000000']);
  assert.deepEqual(numberTexts([1.2013803316603966e32, -3.4e38], null), ['1.201e+32', '-3.4e+38']);
  assert.deepEqual(numberTexts([1.20138e32, 1.20139e32], null), ['1.20138e+32', '1.20139e+32']);
});
