/** Most lines of each room and in total. A change that exceeds one says what it removes, or raises the number here. */
import { test } from 'node:test';
import { none, room, sources, texts } from './project.ts';

/** Of TypeScript, and words of Markdown. Later changes lower them. */
const TOTALS: Readonly<Record<'src' | 'test' | 'words', number>> = { src: 89_750, test: 73_500, words: 67_000 };

/** Lines of TypeScript of each room of src. Files beside the rooms have an entry each. */
const ROOMS: Readonly<Record<string, number>> = {
  alerts: 3_950,
  api: 14_900,
  app: 5_950,
  checkpoint: 2_200,
  codecs: 4_700,
  config: 3_600,
  console: 6_950,
  demo: 1_600,
  detection: 7_500,
  engine: 9_550,
  forecasting: 2_420,
  history: 2_400,
  incidents: 2_100,
  kafka: 6_300,
  main: 210,
  models: 3_000,
  ops: 500,
  pipelines: 1_200,
  records: 2_700,
  sandbox: 700,
  singleton: 300,
  store: 3_100,
  time: 1_100,
  tools: 3_420,
};

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
