import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  parseSettingsText,
  SETTINGS_ALIASES_MAX,
  SETTINGS_CHARACTERS_MAX,
  SETTINGS_PROBLEMS_MAX,
  SETTINGS_TOKENS_MAX,
  SETTINGS_VALUES_MAX,
  type SettingsNode,
} from '../../../../src/config/schema/settings-text.ts';

function parse(text: string): { readonly root: SettingsNode | null; readonly problems: readonly string[] } {
  const problems: string[] = [];
  return { root: parseSettingsText('s.yaml', text, problems), problems };
}

test('values have their lines, and an alias is the value that it refers to', () => {
  const { root, problems } = parse('a: &level 90\nb:\n  - *level\n  -\n');
  assert.deepEqual(problems, []);
  const level = { kind: 'scalar', line: 1, value: 90 };
  const list = { kind: 'list', line: 3, items: [level, { kind: 'scalar', line: 4, value: null }] };
  assert.deepEqual(root, {
    kind: 'mapping',
    line: 1,
    entries: new Map([
      ['a', { keyLine: 1, value: level }],
      ['b', { keyLine: 2, value: list }],
    ]),
  });
});

/** Keys with scalars as their values, by name. */
function plain(node: SettingsNode | undefined): object {
  assert.equal(node?.kind, 'mapping');
  const entries = node?.kind === 'mapping' ? [...node.entries] : [];
  return Object.fromEntries(
    entries.map(([name, { value }]) => [name, value.kind === 'scalar' ? value.value : value.kind]),
  );
}

test('a merge key gives the keys of other mappings, of which those of the mapping itself and earlier ones win', () => {
  const text =
    'a: &a { x: 1, y: 2 }\nb: &b { y: 3, z: 4 }\nc: { <<: *a, y: 9 }\nd: { y: 8, <<: [*b, *a] }\n' +
    'e: &e { <<: *b, w: 5 }\nf: { <<: *e }\ng: { "<<": 1 }\nh: { <<: { v: 6 } }\n';
  const { root, problems } = parse(text);
  assert.deepEqual(problems, []);
  const of = (name: string) => plain(root?.kind === 'mapping' ? root.entries.get(name)?.value : undefined);
  assert.deepEqual(of('c'), { x: 1, y: 9 });
  assert.deepEqual(of('d'), { y: 8, z: 4, x: 1 });
  assert.deepEqual(of('f'), { w: 5, y: 3, z: 4 });
  assert.deepEqual([of('g'), of('h')], [{ '<<': 1 }, { v: 6 }]);
});

test('a merge key of anything but mappings is one problem, and merges are bounded as aliases are', () => {
  const wrong = parse('a: &a 1\nb: { <<: *a }\n');
  assert.deepEqual(wrong.problems, ['s.yaml:2: << must be an alias of a mapping, or a list of such: <<: *base']);
  const keys = Array.from({ length: 10_000 }, (_, i) => `k${i}: 1`).join(', ');
  const { root, problems } = parse(`a: &a { ${keys} }\nb: [${'{ <<: *a },'.repeat(900)}]\n`);
  assert.equal(root, null);
  assert.match(problems[0], /at most 100000 values, with its aliases written out/);
});

test('60,000 aliases are refused, not written out', () => {
  const { root, problems } = parse(`a: &a 1\ndetectors: [${'*a,'.repeat(60_000)}]`);
  assert.equal(root, null);
  assert.deepEqual(problems, [
    `s.yaml:2: a settings text must have at most ${SETTINGS_ALIASES_MAX} aliases, got 60000`,
  ]);
});

test('aliases of aliases count as what they write out', () => {
  const levels = Array.from({ length: 20 }, (_, i) => `l${i + 1}: &l${i + 1} [*l${i}, *l${i}, *l${i}, *l${i}]`);
  const { root, problems } = parse(['l0: &l0 x', ...levels].join('\n'));
  assert.equal(root, null);
  assert.equal(problems.length, 1);
  assert.match(
    problems[0],
    new RegExp(`at most ${SETTINGS_VALUES_MAX} values, with its aliases written out, got \\d+$`),
  );
});

test('a text of separators is refused before it is parsed', () => {
  const { root, problems } = parse(`[${','.repeat(SETTINGS_TOKENS_MAX)}]`);
  assert.equal(root, null);
  assert.deepEqual(problems, ['s.yaml must have at most 200000 words and separators, got 200003']);
});

test('a long text is refused before it is parsed', () => {
  const { root, problems } = parse(`#${' '.repeat(SETTINGS_CHARACTERS_MAX)}`);
  assert.equal(root, null);
  assert.deepEqual(problems, ['s.yaml must have at most 1000000 characters, got 1000001']);
  assert.equal(parse(`#${' '.repeat(SETTINGS_CHARACTERS_MAX - 1)}`).root?.kind, 'scalar');
});

test('thousands of keys, of which some repeat, are compared by name', () => {
  const keys = Array.from({ length: 20_000 }, (_, i) => `k${i}:`);
  assert.deepEqual(parse([...keys, 'k7:'].join('\n')).problems, [
    's.yaml:20001: k7 is set twice: the keys of a mapping must be unique',
  ]);
});

test('many problems are counted, the first are reported', () => {
  const keys = Array.from({ length: 1_000 }, (_, i) => `k${i}:`);
  const { problems } = parse([...keys, ...keys].join('\n'));
  assert.equal(problems.length, SETTINGS_PROBLEMS_MAX + 1);
  assert.equal(problems.at(-1), 's.yaml has 900 further problems');
});

test('a text of any depth is refused in a sentence', () => {
  for (const text of ['['.repeat(100_000), '[\n'.repeat(50_000)]) {
    assert.deepEqual(parse(text).problems, ['s.yaml is nested too deeply']);
  }
});

test('a problem is reported once for a line, and for ten lines', () => {
  for (const [text, lines] of [
    [`[${'*a, '.repeat(5_000)}]`, 1],
    ['- *a\n'.repeat(5_000), 10],
  ] as const) {
    const { problems } = parse(text);
    assert.equal(new Set(problems).size, problems.length);
    assert.ok(problems.join().length < 3_000, `${lines} lines: ${problems.join().length} characters`);
    assert.match(problems.at(-1)!, /^s\.yaml has \d+ further problems$/);
  }
});

/** A glob without quotes, and how it stands in the advice. */
const UNQUOTED = { 'series: *': '"*"', 'series: [a, *]': '"*"', '- *.cpu': '"*.cpu"', 'series: **': '"**"' };

for (const [text, quoted] of Object.entries(UNQUOTED)) {
  test(`${text}: the problem advises to quote it`, () => {
    const { root, problems } = parse(`# comment\n${text}`);
    assert.equal(root, null);
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems[0], /^s\.yaml:2: /);
    assert.ok(problems[0].includes(`text that begins with * must be in quotes, such as ${quoted}:`), problems[0]);
  });
}

test('a text that is nested too deeply for the parser is one problem', () => {
  for (const text of ['? '.repeat(20_000), '- '.repeat(50_000)]) {
    const { root, problems } = parse(text);
    assert.equal(root, null);
    assert.ok(problems.length > 0 && problems.every((problem) => problem.startsWith('s.yaml')), problems[0]);
  }
});

test('a mapping as a key is a problem, and is not written out with its aliases', () => {
  const levels = Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} { x: *a${i}, y: *a${i} }`);
  const { problems } = parse(`a0: &a0 1\n${levels.slice(0, 14).join('\n')}\n? { z: *a14 }\n: 1`);
  assert.ok(
    problems.some((problem) => problem.endsWith('a key must be text')),
    problems.join(),
  );
});
