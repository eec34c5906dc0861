import assert from 'node:assert/strict';
import { test } from 'node:test';
import { globPattern } from '../../../../src/records/series/glob.ts';
import { fc } from '../../../fixture/fast-check.ts';

const matches = (glob: string, text: string) => globPattern([glob]).test(text);

test('a star is any run of characters, a question mark is one, everything else is itself', () => {
  for (const [glob, text, expected] of [
    ['*', '', true],
    ['web.*', 'web.cpu', true],
    ['web.*', 'web-cpu', false],
    ['*.cpu', 'a.b.cpu', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['?', '😀', true],
    ['a**b', 'axxb', true],
    ['(a|b)+', '(a|b)+', true],
    ['a', 'ab', false],
    ['*\n*', 'a\nb', true],
  ] as const) {
    assert.equal(matches(glob, text), expected, `${glob} ${text}`);
  }
  assert.ok(globPattern(['x', 'y*']).test('yz'));
});

test('a glob matches what its regular expression matches', () => {
  const letters = fc.constantFrom('a', 'b', '.', '😀', '\ud83d', '*', '?');
  const glob = fc.array(letters, { maxLength: 8 }).map((parts) => parts.join(''));
  const text = fc
    .array(fc.constantFrom('a', 'b', '.', '😀', '\ud83d'), { maxLength: 10 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(glob, text, (pattern, value) => {
      const source = pattern.replaceAll('.', '\\.').replace(/\*+/g, '.*').replaceAll('?', '.');
      assert.equal(matches(pattern, value), new RegExp(`^(?:${source})$`, 'su').test(value));
    }),
  );
});

test('a glob of many stars does not take the time of a power of the length', () => {
  // A regular expression takes longer than the universe has existed.
  assert.equal(matches(`${'*a'.repeat(60)}*b`, 'a'.repeat(512)), false);
  assert.equal(matches(`${'*a'.repeat(60)}*`, 'a'.repeat(512)), true);
});
