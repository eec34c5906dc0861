/** Most lines of each room and in total. A change that exceeds one says what it removes, or raises the number here. */
import { posix } from 'node:path';
import { test } from 'node:test';
import { isRelative, none, room, sourceImports, sources, texts } from './project.ts';

/** Of TypeScript, and words of Markdown. Later changes lower them. */
const TOTALS: Readonly<Record<'src' | 'test' | 'words', number>> = { src: 89_800, test: 75_600, words: 49_760 };

/** Lines of TypeScript of each room of src. Files beside the rooms have an entry each. */
const ROOMS: Readonly<Record<string, number>> = {
  alerts: 3_840,
  api: 13_860,
  app: 6_070,
  checkpoint: 2_520,
  codecs: 4_960,
  config: 3_420,
  console: 6_700,
  demo: 1_340,
  detection: 8_080,
  engine: 9_980,
  forecasting: 2_640,
  history: 2_280,
  incidents: 2_110,
  kafka: 6_450,
  main: 210,
  models: 3_020,
  ops: 480,
  pipelines: 1_190,
  records: 2_500,
  sandbox: 680,
  singleton: 310,
  store: 2_860,
  time: 1_090,
  tools: 3_310,
};

const ROOMS_MAX = 24;
/** The most rooms that import each other in a row, main aside. */
const FLOORS_MAX = 10;

const FILES_MAX = 15;

const beyond = (what: string, count: number, most: number) =>
  count <= most ? [] : [`${what}: ${count} of at most ${most}; remove as much, or raise it in test/tidy/budgets.ts`];
const linesOf = (text: string) => text.split('\n').length - 1;
const isOf =
  (folder: string) =>
  ([path]: readonly [string, string]) =>
    path.startsWith(`${folder}/`);
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

test('no room of src is larger than its budget', () => {
  const lines = new Map<string, number>();
  for (const [path, text] of sources) lines.set(room(path), (lines.get(room(path)) ?? 0) + linesOf(text));
  none([...lines].flatMap(([name, count]) => beyond(name, count, ROOMS[name] ?? 0)));
  none(Object.keys(ROOMS).filter((name) => !lines.has(name)));
});

test('src, test and the documents are not larger than their budgets', () => {
  const typescript = [...texts].filter(([path]) => path.endsWith('.ts'));
  const pages = [...texts].filter(([path]) => path.endsWith('.md'));
  const counts = {
    src: sum(typescript.filter(isOf('src')).map(([, text]) => linesOf(text))),
    test: sum(typescript.filter(isOf('test')).map(([, text]) => linesOf(text))),
    words: sum(pages.map(([, text]) => text.split(/\s+/).filter((word) => word !== '').length)),
  };
  const whats = ['src', 'test', 'words'] as const;
  none(whats.flatMap((what) => beyond(what, counts[what], TOTALS[what])));
});

test(`src has at most ${ROOMS_MAX} rooms on ${FLOORS_MAX} floors below main`, () => {
  const below = new Map<string, Set<string>>();
  for (const { path, target } of sourceImports.filter(isRelative)) {
    const [from, into] = [room(path), room(posix.join(posix.dirname(path), target))];
    if (from !== into) below.set(from, (below.get(from) ?? new Set()).add(into));
  }
  const floorOf = (name: string): number => 1 + Math.max(0, ...[...(below.get(name) ?? [])].map(floorOf));
  const rooms = Object.keys(ROOMS).filter((name) => name !== 'main');
  none(beyond('rooms', rooms.length, ROOMS_MAX));
  none(rooms.flatMap((name) => beyond(`floors from ${name} down`, floorOf(name), FLOORS_MAX)));
});

test(`no folder of test/fixture has more than ${FILES_MAX} files`, () => {
  const fixtures = [...texts.keys()].filter((path) => path.startsWith('test/fixture/'));
  const folders = [...Map.groupBy(fixtures, (path) => posix.dirname(path))];
  none(folders.flatMap(([folder, files]) => beyond(`files in ${folder}`, files.length, FILES_MAX)));
});

test(`no folder of src has more than ${FILES_MAX} source files`, () => {
  const folders = Map.groupBy(sources.keys(), (path) => posix.dirname(path).slice('src/'.length));
  none([...folders].flatMap(([folder, files]) => beyond(`source files in ${folder}`, files.length, FILES_MAX)));
});
