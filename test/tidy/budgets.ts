/** Most lines of each room and in total. A change that exceeds one says what it removes, or raises the number here. */
import { test } from 'node:test';
import { none, room, sources, texts } from './project.ts';

/** Of TypeScript, and words of Markdown. Later changes lower them. */
const TOTALS: Readonly<Record<'src' | 'test' | 'words', number>> = { src: 89_000, test: 73_000, words: 67_000 };

/** Lines of TypeScript of each room of src. Files beside the rooms have an entry each. */
const ROOMS: Readonly<Record<string, number>> = {
  alerts: 3_900,
  backtest: 1_100,
  calendar: 700,
  changes: 300,
  command: 2_400,
  config: 3_600,
  console: 6_800,
  demo: 1_100,
  detector: 7_500,
  'detector-models': 200,
  finding: 800,
  forecast: 2_500,
  history: 2_400,
  holidays: 500,
  incidents: 2_100,
  ingest: 800,
  kafka: 6_300,
  'local-kafka': 600,
  main: 200,
  model: 3_000,
  owner: 300,
  prometheus: 500,
  record: 1_000,
  run: 3_500,
  sandbox: 700,
  series: 700,
  'service-error': 100,
  sidecar: 14_100,
  store: 3_100,
  stream: 16_400,
  suggest: 1_200,
  telemetry: 500,
  terminal: 1_000,
  'web-assembly.d': 100,
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
