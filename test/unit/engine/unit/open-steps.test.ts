import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DetectorConfig, settingsDigest } from '../../../../src/config/config.ts';
import type { StreamDetectionSettings } from '../../../../src/detection/calibration/settings.ts';
import type { Tally } from '../../../../src/engine/commit/tally.ts';
import { PartitionState } from '../../../../src/engine/state/partition-state.ts';
import { loadedDetector } from '../../../../src/engine/unit/loaded-detector.ts';
import { OPEN_POINTS_MAX, OpenSteps } from '../../../../src/engine/unit/open-steps.ts';
import { arithmeticForecaster } from '../../../fixture/models/arithmetic-forecaster.ts';
import { recordingSink } from '../../../fixture/stream/recording-sink.ts';
import {
  detectorConfig,
  observationRecord,
  resumed,
  START_MS,
  STEP_MS,
  type StreamRun,
  type StreamRunOptions,
  streamRun,
  streamSettings,
} from '../../../fixture/stream/stream-run.ts';

type Point = readonly [step: number, value: unknown, series?: string];

function detectors(settings: Partial<StreamDetectionSettings>): DetectorConfig[] {
  return [detectorConfig({ settings: streamSettings(settings) })];
}

async function scoreAll(points: readonly Point[], options: StreamRunOptions): Promise<StreamRun> {
  const run = streamRun(options);
  append(run, points);
  await run.scoreAll();
  return run;
}

function append({ broker }: StreamRun, points: readonly Point[]): void {
  for (const [step, value, series = 's'] of points) broker.appendRecord(0, observationRecord(series, step, value));
}

const scored = (run: StreamRun) =>
  run.scores().map(({ timestampMs, value, input }) => [(timestampMs - START_MS) / STEP_MS, value, input.offset]);
const letters = (run: StreamRun) => run.deadLetters().map(({ reason, input }) => [reason, input.offset]);
const count = ({ tallies }: StreamRun, what: 'duplicates' | 'withoutValue') =>
  tallies.reduce((sum: number, tally: Tally) => sum + tally[what], 0);

test('points of a step are one score, of the place of the last one that arrived', async () => {
  const run = await scoreAll(
    [
      [0.1, 1],
      [0.7, 3],
      [0.4, 8],
      [1, 5],
      [2, 0],
    ],
    { detectors: detectors({ aggregate: 'mean' }) },
  );
  assert.deepEqual(scored(run), [
    [0, 4, 2],
    [1, 5, 3],
  ]);
});

test('a point that comes twice counts once, and one of a closed step is late', async () => {
  const points: Point[] = [
    [0.1, 1],
    [0.5, 3],
    [0.1, 1],
    [0.5, 9],
    [1.1, 5],
    [0.6, 7],
    [0.1, 1],
    [2, 0],
  ];
  const run = await scoreAll(points, { detectors: detectors({ aggregate: 'sum' }) });
  assert.deepEqual(scored(run), [
    [0, 4, 1],
    [1, 5, 4],
  ]);
  assert.equal(count(run, 'duplicates'), 2);
  assert.deepEqual(letters(run), [
    ['late', 5],
    ['late', 6],
  ]);
});

test('points across the border of a step count within the lateness', async () => {
  const points: Point[] = [
    [0.9, 1],
    [1.1, 5],
    [0.8, 2],
    [1.4, 6],
    [0.99, 4],
    [1.5, 7],
    [0.7, 8],
    [2.6, 0],
  ];
  const run = await scoreAll(points, { detectors: detectors({ aggregate: 'sum', latenessMs: STEP_MS / 2 }) });
  assert.deepEqual(scored(run), [
    [0, 7, 4],
    [1, 18, 5],
  ]);
  assert.deepEqual(letters(run), [['late', 6]]);
});

test('the last step of a series that ends closes by the event time of others, a step later', async () => {
  const options = { detectors: detectors({ aggregate: 'last' }) };
  const others = (until: number): Point[] =>
    Array.from({ length: 10 * until }, (_, i) => [i / 10, i, 'other'] as const);
  const points: Point[] = [[0.2, 1], [0.4, 2], ...others(1.4)];
  const open = await scoreAll(points, options);
  assert.ok(open.scores().every(({ series }) => series === 'other'));
  append(open, others(2).slice(14));
  const closed = await resumed(open, options);
  const own = closed.scores().filter(({ series }) => series === 's');
  assert.deepEqual(
    own.map(({ value, input }) => [value, input.offset]),
    [[2, 1]],
  );
});

test('a series far behind the others closes its steps by its own points', async () => {
  const ahead: Point[] = Array.from({ length: 40 }, (_, i) => [20 + i / 4, 1, 'ahead']);
  const behind: Point[] = Array.from({ length: 20 }, (_, i) => [i / 4, 1, 'behind']);
  const points = ahead.flatMap((point, i) => [point, ...behind.slice(i - 3, i - 2)].slice(0, i < 3 ? 1 : 2));
  const run = await scoreAll(points, { detectors: detectors({ aggregate: 'count' }) });
  const own = run.scores().filter(({ series }) => series === 'behind');
  assert.deepEqual(
    own.map(({ value }) => value),
    [4, 4, 4, 4, 4],
  );
  assert.deepEqual(letters(run), []);
});

test('beyond the limit of points a further one is a dead letter, until a step closes', () => {
  const open = new OpenSteps(streamSettings({ aggregate: 'count' }), { partition: 0, group: null });
  const record = { partition: 0, offset: 0, timestampMs: 0, key: null, value: null };
  const add = (timestampMs: number) => {
    const closed: Parameters<typeof open.add>[2] = [];
    const taken = open.add({ series: 's', group: null, timestampMs, value: 1, record }, 0, closed);
    return [taken, ...closed.map(({ value }) => value)];
  };
  for (let i = 0; i < OPEN_POINTS_MAX; i++) assert.deepEqual(add(START_MS + i), ['taken']);
  assert.deepEqual(add(START_MS + OPEN_POINTS_MAX), ['step-full']);
  assert.deepEqual(add(START_MS + STEP_MS), ['taken', OPEN_POINTS_MAX]);
});

test('an evicted series has its open step among the dead letters, as its last record', async () => {
  const points: Point[] = [
    [0, 1, 'a'],
    [0.1, 1, 'a'],
    [0.2, 1, 'b'],
    [0.3, 1, 'c'],
  ];
  const run = await scoreAll(points, { detectors: detectors({ aggregate: 'mean' }), limits: { seriesMax: 2 } });
  assert.deepEqual(letters(run), [['late', 1]]);
  assert.match(JSON.stringify(run.deadLetters()[0]), /the step of its 2 points was open/);
});

test('another aggregate is another quantity: the series starts over, and its open step is a dead letter', async () => {
  const steps: Point[] = Array.from({ length: 80 }, (_, i) => [i / 2, i % 7]);
  const run = await scoreAll(steps, { detectors: detectors({ aggregate: 'mean' }) });
  append(run, [
    [40, 1],
    [40.5, 2],
    [41, 3],
  ]);
  const changed = await resumed(run, { detectors: detectors({ aggregate: 'max' }) });
  assert.deepEqual(letters(changed), [['late', 79]]);
  const [score] = changed.scores().slice(39);
  assert.deepEqual([score.restarted, score.position, score.value], [true, 0, 2]);
});

test('under other settings of the same points the open step continues', async () => {
  const steps: Point[] = Array.from({ length: 79 }, (_, i) => [i / 2, i % 7]);
  const run = await scoreAll(steps, { detectors: detectors({ aggregate: 'sum' }) });
  append(run, [
    [39.5, 100],
    [40, 1],
  ]);
  const changed = await resumed(run, { detectors: detectors({ aggregate: 'sum', detectionSize: 5 }) });
  assert.deepEqual(letters(changed), []);
  const score = changed.scores().at(-1)!;
  assert.deepEqual([score.position, score.value, score.input.offset], [32, 101, 79]);
});

test('a counter is scored by what it came to; its first record, and the one after a long gap, have no value', async () => {
  const points: Point[] = [
    [0, 100],
    [1, 160],
    [1.1, 999],
    [2, 190],
    [3, 30],
    [5, 150],
    [30, 1_000],
    [31, 1_600],
  ];
  const rate = await scoreAll(points, { detectors: detectors({ as: 'rate' }) });
  assert.deepEqual(
    scored(rate).map(([step, value]) => [step, value]),
    [
      [1, 1],
      [2, 0.5],
      [3, 0.5],
      [5, 1],
      [31, 10],
    ],
  );
  assert.deepEqual([count(rate, 'duplicates'), count(rate, 'withoutValue')], [1, 2]);
  const increase = await scoreAll(points, { detectors: detectors({ as: 'increase' }) });
  // That of two steps is none of one step.
  assert.deepEqual(
    scored(increase).map(([step, value]) => [step, value]),
    [
      [1, 60],
      [2, 30],
      [3, 30],
      [31, 600],
    ],
  );
  assert.equal(count(increase, 'withoutValue'), 3);
});

test('a counter continues over a restart, alone and in steps', async () => {
  const first: Point[] = [
    [0, 100],
    [0.25, 115],
    [1, 160],
  ];
  const then: Point[] = [
    [1.25, 175],
    [2, 190],
    [3, 250],
  ];
  for (const [settings, expected] of [
    [{ as: 'rate' }, [1, 1, 0.5, 1]],
    [{ as: 'rate', aggregate: 'mean' }, [1, 1, 1 / 3]],
    [{ as: 'increase', aggregate: 'sum' }, [15, 60, 15]],
  ] as const) {
    const options = { detectors: detectors(settings) };
    const run = await scoreAll(first, options);
    append(run, then);
    const values = (await resumed(run, options)).scores().map(({ value }) => value);
    assert.deepEqual(values, expected);
  }
});

test('NaN is a missing value: no score, no dead letter, and a gap where nothing else comes', async () => {
  const points: Point[] = [
    [0, 1],
    [1, 'NaN'],
    [2, 3],
    [2.5, 'NaN'],
    [3, 4],
  ];
  const run = await scoreAll(points, { detectors: detectors({}) });
  assert.deepEqual(
    scored(run).map(([step, value]) => [step, value]),
    [
      [0, 1],
      [2, 3],
      [3, 4],
    ],
  );
  assert.deepEqual([letters(run), count(run, 'withoutValue')], [[], 2]);
});

test('a clock closes no step: a series that it finds silent continues with the step that it had', async () => {
  const [config] = detectors({ aggregate: 'count', silenceAfter: 2, context: 16 });
  const model = { forecaster: arithmeticForecaster(), digest: 'arithmetic' };
  const loaded = loadedDetector(config, model, settingsDigest(config));
  const state = new PartitionState({ topic: 'observations', partition: 0 }, 10);
  const { signal } = new AbortController();
  const sink = recordingSink();
  let offset = 0;
  const send = (steps: readonly number[]) =>
    state.score(
      steps.map((step) => {
        const timestampMs = START_MS + step * STEP_MS;
        const record = { partition: 0, offset: offset++, timestampMs, key: null, value: null };
        return { series: 's', group: null, timestampMs, value: 1, record, loaded };
      }),
      sink,
      signal,
    );
  await send(Array.from({ length: 41 }, (_, i) => i / 2));
  await state.reportQuiet(10 * STEP_MS, { offset, sink }, signal);
  assert.deepEqual(sink.states.slice(-1), ['silent']);
  const before = sink.states.length;
  await send([20.5, 21]);
  assert.deepEqual(sink.states.slice(before), ['returned', 'calibrating']);
  assert.equal(sink.values.at(-1), 2);
});

test('a step that was open as its series fell silent, and has no point since, does not bring it back', async () => {
  const options = { detectors: detectors({ aggregate: 'count', silenceAfter: 2, latenessMs: 4 * STEP_MS }) };
  const own: Point[] = Array.from({ length: 40 }, (_, i) => [i / 2, 1]);
  const others: Point[] = Array.from({ length: 120 }, (_, i) => [i / 4, 1, 'other']);
  const run = await scoreAll([...own, ...others], options);
  const states = run
    .scores()
    .filter(({ series }) => series === 's')
    .map(({ state }) => state);
  assert.equal(states.at(-1), 'silent');
  assert.equal(states.filter((state) => state === 'silent' || state === 'returned').length, 1);
});
