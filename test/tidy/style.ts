/** Files, names and lines. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';
import { isRelative, matches, none, PROGRAM_NAME, programs, ROOT, read, sourceImports, sources } from './project.ts';

/** A file of fewer lines that one other file alone imports belongs into that file. */
const LINES_MIN = 20;
/** How many such files are left. Later changes lower it. */
const SHORT_FILES_MAX = 16;
const LINES_MAX = 300;
/** A state machine is read as a whole. */
const MACHINE_LINES_MAX = 350;
const MACHINES = [
  'src/detection/series/series-detector.ts',
  'src/detection/event/event-tracker.ts',
  'src/engine/group/scored-group.ts',
  'src/engine/partition-task.ts',
  'src/kafka/fetch/fetch-loop.ts',
];
/** A suite is a list: longer is no harder to read. */
const TEST_LINES_MAX = 400;

test('the compiler and the linter hold the style of the language', () => {
  const { compilerOptions } = JSON.parse(read('tsconfig.json'));
  for (const option of ['strict', 'erasableSyntaxOnly', 'verbatimModuleSyntax', 'exactOptionalPropertyTypes']) {
    assert.equal(compilerOptions[option], true, option);
  }
  const { rules } = JSON.parse(read('.biome.json')).linter;
  for (const [group, rule] of [
    ['style', 'noDefaultExport'],
    ['style', 'noEnum'],
    ['style', 'noNamespace'],
    ['style', 'noParameterProperties'],
    ['style', 'useImportType'],
    ['suspicious', 'noExplicitAny'],
    ['performance', 'noBarrelFile'],
    ['complexity', 'noExcessiveLinesPerFunction'],
  ]) {
    const setting = rules[group]?.[rule];
    assert.equal(typeof setting === 'object' ? setting.level : setting, 'error', `${group}/${rule}`);
  }
});

test('no rule is switched off where it bites, without a reason', () => {
  none(matches(programs, /@ts-(?:ignore|nocheck|expect-error)(?!:? \w).*|biome-ignore(?! [\w/]+: \w).*/g));
});

test('no literal is spread into another one: its fields are written out', () => {
  none(matches(programs, /\.\.\.\{ ?\w[^\n]*/g));
});

const linesMaxOf = (path: string) =>
  path.startsWith('test/') ? TEST_LINES_MAX : MACHINES.includes(path) ? MACHINE_LINES_MAX : LINES_MAX;

test(`no source is longer than ${LINES_MAX} lines, no state machine than ${MACHINE_LINES_MAX}, no test than ${TEST_LINES_MAX}`, () => {
  assert.ok(MACHINES.every((path) => programs.has(path)));
  none(
    [...programs].flatMap(([path, text]) => {
      const lines = text.trimEnd().split('\n').length;
      return lines > linesMaxOf(path) ? [`${path} has ${lines} lines`] : [];
    }),
  );
});

test(`a source of fewer than ${LINES_MIN} lines has several users, or is a program of its own`, () => {
  const users = Map.groupBy(sourceImports.filter(isRelative), ({ path, target }) =>
    posix.join(posix.dirname(path), target),
  );
  const short = [...sources].flatMap(([path, text]) => {
    const [first, ...others] = users.get(path) ?? [];
    const isPart = first !== undefined && !first.program && others.length === 0;
    return isPart && text.trimEnd().split('\n').length < LINES_MIN ? [`${path} belongs into ${first.path}`] : [];
  });
  none(short.length > SHORT_FILES_MAX ? short : []);
});

/** The formatter's width: it wraps code, not comments. */
const COLUMNS_MAX = 120;

test(`no line of a comment is longer than ${COLUMNS_MAX} columns`, () => {
  none(matches(programs, new RegExp(`^(?= *(?:/?\\*|//)).{${COLUMNS_MAX + 1},}`, 'gm')));
});

test(`no line of code in src is longer than ${COLUMNS_MAX} columns: long sentences are broken`, () => {
  none(matches(sources, new RegExp(`^(?! *(?:/?\\*|//)).{${COLUMNS_MAX + 1},}`, 'gm')));
});

test('a comment is a sentence of its own: it does not begin with what it is of', () => {
  none(matches(sources, /\/\*\* Of .*/g));
});

test('no file name occurs twice in src', () => {
  const paths = [...programs.keys()].filter((path) => path.startsWith('src/'));
  const named = Map.groupBy(paths, (path) => posix.basename(path));
  none([...named.values()].filter(({ length }) => length > 1).map((twice) => twice.join(', ')));
});

const DECLARATION = /^(?:export (?:async )?(?:function\*?|const|class|type|interface)|class|type|interface) (\w+)/gm;

test('no type, and no name that is exported, occurs twice in src', () => {
  const declared = [...sources].flatMap(([path, text]) =>
    // A schema and the type of its values have one name.
    [...text.replaceAll(/^export type (\w+) = Type\.Static<typeof \1>;$/gm, '').matchAll(DECLARATION)]
      .map(([, name]) => ({ path, name }))
      .filter(({ name }) => name !== PROGRAM_NAME),
  );
  const places = Map.groupBy(declared, ({ name }) => name);
  none([...places].flatMap(([name, all]) => (all.length > 1 ? [`${name}: ${all.map(({ path }) => path)}`] : [])));
});

test('no index is followed by an assertion that checks nothing', () => {
  none(matches(programs, /\]!/g));
});

test('constants of a module are written in capitals', () => {
  const code = new Map([...programs].filter(([path]) => path.startsWith('src/')));
  none(matches(code, /^(?:export )?const [a-z]\w*(?:: \w+)? = (?:-?\d|'|\/(?![/*]))/gm));
});

test('a file is named by what it is about', () => {
  const vague = /(?:^|-)(?:utils?|helpers?|common|core|managers?|misc|base|impl|index)$/;
  none(
    [...programs.keys()].flatMap((path) => {
      const name = posix.basename(path).replace(/(?:\.test|\.d)?\.ts$/, '');
      return vague.test(name) || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) ? [path] : [];
    }),
  );
});

test('every unit test mirrors a file, or a folder of what is no program', () => {
  const tests = [...programs.keys()].filter((path) => path.startsWith('test/unit/') && path.endsWith('.test.ts'));
  none(
    tests.filter((path) => {
      const mirrored = path.slice('test/unit/'.length).replace(/\.test\.ts$/, '');
      return ![`src/${mirrored}.ts`, `${mirrored}.ts`, mirrored].some((source) => existsSync(new URL(source, ROOT)));
    }),
  );
});

test('tests are in the folders of the layout', () => {
  const folders =
    /^test\/(?:unit|property|contract|api|e2e|fault|golden|bench|fixture|generated|senders)\/|^test\/tidy\/|^test\/(?:main|(?:generated|tidy)\.test|all-[a-z-]+\.test)\.ts$/;
  none([...programs.keys()].filter((path) => path.startsWith('test/') && !folders.test(path)));
});

test('laws are checked on the inputs of a seed', () => {
  const others = [...programs].filter(([path]) => path !== 'test/fixture/fast-check.ts');
  none(matches(new Map(others), /from 'fast-check'/g));
});

test('no test runs alone, and none is skipped without a reason', () => {
  const tests = new Map([...programs].filter(([path]) => path.startsWith('test/')));
  none([
    ...matches(tests, /\b(?:test|it|describe|suite)\.(?:only|skip|todo)\(|\bonly: true/g),
    ...matches(tests, /\b(?:skip|todo): true|\bt\.(?:skip|todo)\(\)/g),
  ]);
});
