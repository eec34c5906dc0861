import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileMatchers, parseMatchers } from '../../../../src/records/series/label-matcher.ts';

function matches(text: string, labels: Record<string, string>): boolean {
  const read = parseMatchers(text);
  assert.ok(read.kind === 'matchers', JSON.stringify(read));
  return compileMatchers(read.matchers)(labels);
}

const NODE = { __name__: 'node_load1', job: 'web-1', instance: 'a:9100' };

for (const [text, expected] of [
  ['{job="web-1"}', true],
  ['{job="web"}', false],
  ['{job!="web-1"}', false],
  ['{job=~"web-.*"}', true],
  ['{job=~"web"}', false],
  ['{job=~"db|web-1"}', true],
  ['{job!~"db|web-1"}', false],
  ['{job=~".+b-1"}', true],
  ['{instance=~".*:9.*"}', true],
  ['{instance=~"a.9100"}', true],
  ['{instance=~"a\\\\.9100"}', false],
  ['{job=~"web\\-."}', true],
  ['{__name__="node_load1", job=~"web-.*",}', true],
  ['{__name__="node_load5", job=~"web-.*"}', false],
  [`{'node_load1', "job"='web-1'}`, true],
  ['{pod=""}', true],
  ['{pod!=""}', false],
  ['{pod!="x"}', true],
  ['{pod=~".*"}', true],
  ['{pod=~".+"}', false],
  ['{constructor=""}', true],
] as const) {
  test(`${text} ${expected ? 'matches' : 'does not match'}`, () => assert.equal(matches(text, NODE), expected));
}

for (const [text, problem] of [
  ['{}', 'with at least one matcher at "}"'],
  ['{job}', 'with =, !=, =~ or !~ at "}"'],
  ['{job=web}', 'with a value in quotes at "web}"'],
  ['{job="a" instance="b"}', 'with a comma, or the closing brace at '],
  ['{=""}', 'with the name of a label at'],
  ['{job="a"', 'with braces around the matchers'],
  ['{job=~"web-[0-9]+"}', 'job=~"web-[0-9]+" has "["'],
  ['{job=~"(a|b)"}', 'has "("'],
  ['{job=~"a*"}', 'has "*"'],
  ['{job=~"a.*?"}', 'has "?"'],
  ['{job=~"^a"}', 'has "^"'],
  ['{job=~"\\\\d"}', 'has "\\\\d"'],
  [`{job="${'a'.repeat(4_096)}"}`, 'of at most 4096 characters'],
] as const) {
  test(`matchers that cannot be read name what is wrong: ${text.slice(0, 40)}`, () => {
    const read = parseMatchers(text);
    assert.ok(read.kind === 'problem');
    assert.ok(read.problem.includes(problem), read.problem);
  });
}

test('the problem of a pattern names what a pattern may be', () => {
  const read = parseMatchers('{job=~"a{2}"}');
  assert.match(read.kind === 'problem' ? read.problem : '', /takes alternatives of texts with \.\*/);
});

test('a pattern of many runs does not take the time of a power of the length', () => {
  const pattern = '.*a'.repeat(60);
  assert.equal(matches(`{job=~"${pattern}.*b"}`, { job: 'a'.repeat(512) }), false);
});
