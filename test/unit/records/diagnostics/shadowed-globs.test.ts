import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers, shadowedGlobs } from '../../../../src/records/diagnostics/shadowed-globs.ts';
import { globPattern } from '../../../../src/records/series/glob.ts';

test('a glob that can never take a series is found, with the detector that takes all of them', () => {
  const detectors = [
    { name: 'all', series: ['*'] },
    { name: 'db', series: ['db-*'] },
    { name: 'hosts', series: ['host-?/cpu', 'x'] },
  ];
  assert.deepEqual(shadowedGlobs(detectors), [
    { kind: 'shadowed', detector: 'db', glob: 'db-*', by: 'all' },
    { kind: 'shadowed', detector: 'hosts', glob: 'host-?/cpu', by: 'all' },
    { kind: 'shadowed', detector: 'hosts', glob: 'x', by: 'all' },
  ]);
  assert.deepEqual(shadowedGlobs([...detectors].reverse()), []);
});

test('matchers are shadowed by a glob of everything, and by matchers that are all among them', () => {
  const shadowing = (outer: string, inner: string) =>
    shadowedGlobs([
      { name: 'outer', series: [outer] },
      { name: 'inner', series: [inner] },
    ]).length > 0;
  assert.equal(shadowing('*', '{job="a"}'), true);
  assert.equal(shadowing('a*', '{job="a"}'), false);
  assert.equal(shadowing('{job="a"}', '{zone="b", job="a"}'), true);
  assert.equal(shadowing('{job="a"}', '{job!="a"}'), false);
  assert.equal(shadowing('{job="a"}', '{job=~"a"}'), false);
  assert.equal(shadowing('{job="a"}', 'up{job="a"}'), false);
});

test('one glob covers another exactly where it matches all that the other one matches', () => {
  const covering = ['* a', '* *', 'a* ab*', '?* ?', '*a* *a', 'a*c abc', '?b ab', '*? ?*', 'a** a*', '*a*b* *ab'];
  const apart = ['a *', '? *', '?* *', 'a* *a', 'ab* a*', 'a?c a*c', 'x x?', '*a*b* *a*', 'ab ?b'];
  const split = (pair: string) => pair.split(' ') as [string, string];
  for (const pair of covering) assert.equal(covers(...split(pair)), true, pair);
  for (const pair of apart) assert.equal(covers(...split(pair)), false, pair);
});

test('covers agrees with the matching of every short text', () => {
  const texts = ['', ...words(4)];
  const globs = [...new Set(words(3, ['a', '*', '?']))];
  for (const outer of globs) {
    const outers = globPattern([outer]);
    for (const inner of globs) {
      const inners = globPattern([inner]);
      // Globs of three characters differ in a text of four, if at all.
      const agrees = texts.every((text) => !inners.test(text) || outers.test(text));
      assert.equal(covers(outer, inner), agrees, `${outer} over ${inner}`);
    }
  }
});

test('no ends of two globs hide that one of them covers the other', () => {
  const globs = [...new Set(words(3, ['a', 'b', '*', '?']))];
  for (const outer of globs) {
    const detectors = [
      { name: 'outer', series: [outer] },
      { name: 'inner', series: globs },
    ];
    const found = shadowedGlobs(detectors).flatMap((one) => (one.kind === 'shadowed' ? [one.glob] : []));
    const expected = globs.filter((inner) => covers(outer, inner));
    assert.deepEqual(found, expected, outer);
  }
});

function words(length: number, letters = ['a', 'b', '\u{1F30A}']): string[] {
  if (length === 0) return [];
  const shorter = words(length - 1, letters);
  return [...letters, ...shorter.flatMap((word) => letters.map((letter) => word + letter))];
}
