import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arithmeticForecaster } from '../../../fixture/models/arithmetic-forecaster.ts';
import {
  detectorConfig,
  type Fed,
  lines,
  START_MS,
  STEP_MS,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../../fixture/stream/stream-run.ts';

async function scoreAll(observations: readonly Fed[], options = {}) {
  const run = streamRun(options);
  run.feed(observations);
  await run.scoreAll();
  return run;
}

const steps = (from: number, to: number, value = (step: number) => step % 4): Fed[] =>
  Array.from({ length: to - from }, (_, i) => ['s', from + i, value(from + i)]);

test('an observation older than the newest one is late: a dead letter that changes nothing', async () => {
  const run = await scoreAll([...steps(0, 30), ['s', 12, 99], ...steps(30, 40)]);
  const undisturbed = await scoreAll(steps(0, 40));
  assert.deepEqual(run.letters('offset'), ['late 30']);
  const comparable = (scores: ReturnType<typeof run.scores>) => scores.map(({ input: _, ...score }) => score);
  assert.deepEqual(comparable(run.scores()), comparable(undisturbed.scores()));
});

test('the newest time step again is a duplicate: dropped, counted, no dead letter', async () => {
  const run = await scoreAll([...steps(0, 30), ['s', 29, 99], ...steps(30, 40)]);
  assert.equal(run.deadLetters().length, 0);
  assert.equal(run.scores().length, 40);
  assert.equal(run.total('duplicates'), 1);
});

test('missing steps up to the gap limit are filled with missing values and publish nothing', async () => {
  const run = await scoreAll([...steps(0, 30), ...steps(36, 40)]);
  const positions = run.scores().map(({ position }) => position);
  assert.deepEqual(positions, [...Array(30).keys(), 36, 37, 38, 39]);
  assert.equal(run.total('gapsFilled'), 6);
  assert.ok(run.scores().every(({ restarted }) => !restarted));
});

//  h 4   cutoffs 16 20 24 28 32 ... 64 68      observed 0-29, 70-73: those from 32 to 64 forecast missing values alone
test('after a gap only forecasts are made that cover a value which arrived', async () => {
  const forecaster = arithmeticForecaster();
  const detectors = [detectorConfig({ settings: streamSettings({ context: 64, gapLimit: 64 }) })];
  const run = await scoreAll([...steps(0, 30), ...steps(70, 74)], { detectors, forecaster });
  const actual = run.scores().map(({ forecast }) => forecast !== null);
  const expected = [...Array(34).keys()].map((i) => i >= 16);
  assert.deepEqual(actual, expected);
  assert.equal(forecaster.batches.flatMap(({ rows }) => Array(rows).fill(0)).length, 6);
});

test('beyond the gap limit the series starts over at position 0, and its first score is marked', async () => {
  const run = await scoreAll([...steps(0, 30), ...steps(37, 40)]);
  const after = lines(run.scores().slice(30), 'position', 'restarted', 'state');
  assert.deepEqual(after, ['0 true warming-up', '1 false warming-up', '2 false warming-up']);
});

test('a score names its input record and how it was scored', async () => {
  const run = await scoreAll(steps(0, 60, (step) => (step === 59 ? 500 : (step * 7) % 5)));
  const score = run.scores().at(-1)!;
  assert.deepEqual(
    { ...score, forecast: null, lo: null, hi: null, anomalyScore: null, grade: null, severity: null },
    {
      series: 's',
      detector: 'every',
      model: 'arithmetic',
      modelDigest: 'arithmetic',
      group: null,
      timestampMs: START_MS + 59 * STEP_MS,
      value: 500,
      forecast: null,
      lo: null,
      hi: null,
      level: 95,
      anomalyScore: null,
      accumulatedAnomalyScore: null,
      anomaly: true,
      grade: null,
      severity: null,
      alarm: true,
      state: 'scored',
      cause: null,
      position: 59,
      window: { start: 56, end: 60 },
      restarted: false,
      input: { topic: 'observations', partition: 0, offset: 59 },
    },
  );
  assert.ok(score.grade! > 0.5 && score.grade! <= 1 && score.severity! > 0);
  assert.ok(score.lo! < score.forecast! && score.forecast! < score.hi! && score.hi! < 500);
});

test('series whose settings changed begin with the values they kept, marked as restarted; others continue', async () => {
  const detectors = [detectorConfig({ name: 'a', series: ['a*'] }), detectorConfig({ name: 'b', series: ['b*'] })];
  const run = streamRun({ detectors });
  const both = (from: number, to: number) =>
    steps(from, to).flatMap(([, step]) => ['a1', 'b1'].map((series): Fed => [series, step, step % 3]));
  run.feed(both(0, 30));
  await run.scoreAll();
  const changed = [detectors[0], { ...detectors[1], settings: streamSettings({ gapLimit: 5 }) }];
  const second = streamRun({ detectors: changed, broker: run.broker });
  const changes: number[] = [];
  second.feed(both(30, 33));
  await second.scoreAll({}, { settingsChanged: (_partition, units) => void changes.push(units) });
  assert.deepEqual(changes, [1]);
  const after = (series: string) => {
    const own = second.scores().filter((score) => score.series === series);
    return lines(own.slice(30), 'position', 'restarted');
  };
  assert.deepEqual(after('a1'), ['30 false', '31 false', '32 false']);
  assert.deepEqual(after('b1'), ['30 true', '31 false', '32 false']);
  const restarts = second.total(({ restarted }) => restarted['settings-changed'] ?? 0);
  assert.deepEqual([restarts, second.total('backfilled')], [1, 1]);
  const windows = new Map(
    run.broker.read(TOPICS.changelog, 0).map(({ key, value }) => [key!.toString(), value] as const),
  );
  const keysOf = (series: string) => [...windows.keys()].filter((key) => key.endsWith(`/${series}`));
  assert.ok(keysOf('a1').length > 0 && keysOf('a1').every((key) => windows.get(key) !== null));
  assert.ok(keysOf('b1').some((key) => windows.get(key) !== null));
});

test('beyond the limit the longest idle series are evicted, and start over when they return', async () => {
  const series = Array.from({ length: 20 }, (_, i) => `s${i}`);
  const then: Fed[] = [
    ['s0', 1, 1],
    ['new', 1, 1],
    ['s1', 1, 1],
    ['s0', 2, 1],
  ];
  const run = await scoreAll([...series.map((id): Fed => [id, 0, 1]), ...then], { limits: { seriesMax: 20 } });
  const positions = lines(run.scores().slice(20), 'series', 'position');
  assert.deepEqual(positions, ['s0 1', 'new 0', 's1 0', 's0 2']);
});
