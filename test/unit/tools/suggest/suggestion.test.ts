import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeriesColumns } from '../../../../src/tools/suggest/series-columns.ts';
import { suggest } from '../../../../src/tools/suggest/suggestion.ts';
import { suggestionText } from '../../../../src/tools/suggest/suggestion-text.ts';

const BEGIN = 1_767_225_600_000;
const MIN = 60_000;

interface Made {
  readonly stepMs?: number;
  readonly from?: number;
  readonly to: number;
  readonly every?: number;
  value(i: number): number;
}

function suggestionOf(series: Readonly<Record<string, Made>>) {
  const columns = new SeriesColumns(1_000_000);
  for (const [id, { stepMs = 5 * MIN, from = 0, to, every = 1, value }] of Object.entries(series)) {
    for (let i = from; i < to; i += every) columns.add(id, BEGIN + i * stepMs, value(i));
  }
  return suggest(columns);
}

const noise = (seed: number) => (i: number) => 10 + Math.sin(i * 12.9898 + seed * 3) * 4 + Math.sin(i * 78.2);

test('series of one metric are one detector by its name, those of paths by their last part', () => {
  const { detectors } = suggestionOf({
    'load{host="a"}': { to: 400, value: noise(1) },
    'load{host="b"}': { to: 400, value: noise(2) },
    'web-1/cpu': { to: 400, value: noise(3) },
    'web-2/cpu': { to: 400, value: noise(4) },
    'pump 7': { to: 400, value: noise(5) },
  });
  const actual = detectors.map(({ name, family }) => [name, family.patterns, family.members.length]);
  assert.deepEqual(actual, [
    ['load', ['{__name__="load"}'], 2],
    ['pump', ['pump *'], 1],
    ['cpu', ['*/cpu'], 2],
  ]);
});

test('series of one name with another step have a detector of their own', () => {
  const { detectors } = suggestionOf({
    'load{host="a"}': { to: 400, value: noise(1) },
    'load{host="b"}': { to: 400, value: noise(2) },
    'load{host="c"}': { to: 400, stepMs: 60 * MIN, value: noise(3) },
  });
  const actual = detectors.map(({ freq, family }) => [freq.alias, family.patterns]);
  assert.deepEqual(actual, [
    ['h', ['load{host="c"}']],
    ['5min', ['{__name__="load"}']],
  ]);
});

test('what is not watched has a reason; counters are watched by their rate', () => {
  const { detectors, notWatched } = suggestionOf({
    up: { to: 400, value: () => 1 },
    jobs_total: { to: 400, value: (i) => 3 * i + (i % 3) },
    restarts: { to: 400, value: (i) => (i * 5 + (i % 3)) % 997 },
    sparse: { to: 400, every: 3, value: noise(1) },
    irregular: { to: 400, value: noise(1) },
    once: { to: 1, value: () => 1 },
  });
  assert.deepEqual(detectors.map(({ name, as }) => `${name} ${as}`).sort(), [
    'irregular null',
    'jobs_total rate',
    'restarts rate',
    'sparse null',
  ]);
  assert.deepEqual(Object.fromEntries(notWatched.map(({ family, why }) => [family.name, why])), {
    up: 'constant',
    once: 'no-step',
  });
});

test('a series without most of its steps is sparse, and one that falls slowly is no counter', () => {
  const columns = new SeriesColumns(10_000);
  for (let i = 0; i < 400; i++) {
    if (i % 20 < 3) columns.add('rare', BEGIN + i * MIN, Math.sin(i));
    columns.add('tank', BEGIN + i * MIN, i % 50 < 45 ? i % 50 : 45 - 9 * ((i % 50) - 45));
  }
  const { detectors, notWatched } = suggest(columns);
  const reasons = notWatched.map(({ family, why }) => [family.name, why]);
  assert.deepEqual(reasons, [['rare', 'sparse']]);
  const watched = detectors.map(({ name }) => name);
  assert.deepEqual(watched, ['tank']);
});

test('pods that come and go are named, with the label that distinguishes them; their silence is ignored', () => {
  const pods = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [
      `cpu{job="web",pod="p${i}"}`,
      { from: 20 * i, to: 20 * i + 20, value: noise(i) },
    ]),
  );
  const suggestion = suggestionOf({ ...pods, 'cpu{job="db",pod="q"}': { to: 400, value: noise(99) } });
  const [detector] = suggestion.detectors;
  assert.equal(detector.shortLived.length, 19);
  assert.equal(detector.uncalibrated.length, 1);
  assert.equal(detector.silenceAfter, 'off');
  const text = suggestionText(suggestion, {
    command: 'suggest x',
    sources: [],
    timeZone: 'UTC',
    holidays: { places: [], contradicted: [] },
  });
  assert.match(text, /19 are short-lived: .*"cpu\{job=\\"web\\",pod=\\"p0\\"\}".* and 16 more/);
  assert.match(text, /drop_labels: \[pod\]/);
});

test('settings follow the data: side by name, deviation by resolution, silence by gaps, windows by the step', () => {
  const { detectors } = suggestionOf({
    'a/http_errors': { to: 400, value: (i) => Math.round(noise(1)(i)) },
    'a/disk_free': { to: 400, value: noise(2) },
    'a/gaps': { to: 400, value: noise(3) },
    'a/sales': { to: 400, stepMs: 1_440 * MIN, value: noise(4) },
  });
  const of = (name: string) => detectors.find((detector) => detector.name === name);
  assert.deepEqual([of('http_errors')?.direction, of('http_errors')?.minDeviation], ['up', 1]);
  assert.deepEqual([of('disk_free')?.direction, of('disk_free')?.minDeviation], ['down', null]);
  assert.deepEqual([of('sales')?.h, of('sales')?.detectionSize, of('sales')?.freq.alias], [7, 7, 'D']);
  assert.equal(of('gaps')?.silenceAfter, null);
  const columns = new SeriesColumns(10_000);
  for (let i = 0; i < 1_000; i++) if (i % 100 < 80) columns.add('gaps', BEGIN + i * 5 * MIN, noise(3)(i));
  assert.equal(suggest(columns).detectors[0].silenceAfter, 42);
});

test('observations that come more often than every minute are aggregated', () => {
  const { detectors } = suggestionOf({ a: { to: 1_600, stepMs: 15_000, value: (i) => Math.round(noise(1)(i)) } });
  const [{ freq, aggregate, minDeviation, uncalibrated }] = detectors;
  assert.deepEqual([freq.alias, aggregate, minDeviation, uncalibrated.length], ['min', 'mean', null, 0]);
});

test('a daily season is found, with its quietest hour', () => {
  const day = (i: number) => 10 - 5 * Math.cos(((i - 36) / 288) * 2 * Math.PI) + Math.sin(i * 12.9898);
  const { detectors } = suggestionOf({ a: { to: 288 * 14, value: day }, b: { to: 288 * 14, value: noise(1) } });
  const seasonal = detectors.filter((detector) => detector.seasonal !== null);
  const names = seasonal.map(({ name }) => name);
  assert.deepEqual(names, ['a']);
  assert.ok([2, 3].includes(seasonal[0].seasonal?.quietestHour ?? -1));
});

test('more families than there may be detectors share some', () => {
  const many = Object.fromEntries(
    Array.from({ length: 250 }, (_, i) => [
      `m${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}{a="b"}`,
      { to: 200, value: noise(i) },
    ]),
  );
  const { detectors } = suggestionOf(many);
  assert.equal(detectors.length, 201);
  assert.equal(detectors.at(-1)?.family.patterns.length, 50);
});

test('of values at one time the first counts, whatever the order of their arrival', () => {
  const columns = new SeriesColumns(4);
  for (const [time, value] of [
    [2, 20],
    [1, 10],
    [2, 30],
    [3, 40],
  ] as const)
    assert.ok(columns.add('a', time, value));
  assert.ok(!columns.add('a', 4, 50));
  const [{ times, values }] = [...columns.all()];
  assert.deepEqual(
    [[...times], [...values]],
    [
      [1, 2, 3],
      [10, 20, 40],
    ],
  );
});

test('a unit is suggested if the name ends with one', () => {
  const suggestion = suggestionOf({
    'memory_working_set_bytes{pod="a"}': { to: 400, value: noise(1) },
    'request_duration_seconds_p95{pod="a"}': { to: 400, value: noise(2) },
    'network_bytes_total{pod="a"}': { to: 400, value: (i) => i * 1_000 + noise(3)(i) },
    'bytes_in_flight{pod="a"}': { to: 400, value: noise(4) },
  });
  const context = { command: 'suggest', sources: [], timeZone: 'UTC', holidays: { places: [], contradicted: [] } };
  const units = suggestionText(suggestion, context).match(/^ {4}unit: .*$/gm);
  assert.deepEqual(units?.map((line) => line.trim()).sort(), [
    'unit: bytes # by its name',
    'unit: bytes/s # by its name',
    'unit: seconds # by its name',
  ]);
});
