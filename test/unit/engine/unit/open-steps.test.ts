import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DetectorConfig } from '../../../../src/config/config.ts';
import type { StreamDetectionSettings } from '../../../../src/detection/calibration/settings.ts';
import { PartitionState } from '../../../../src/engine/state/partition-state.ts';
import { OPEN_POINTS_MAX, OpenSteps } from '../../../../src/engine/unit/open-steps.ts';
import { recordingSink } from '../../../fixture/stream/recording-sink.ts';
import {
  detectorConfig,
  type Fed,
  lines,
  loadArithmetic,
  observed,
  resumed,
  START_MS,
  STEP_MS,
  type StreamRun,
  type StreamRunOptions,
  stepOf,
  streamRun,
  streamSettings,
} from '../../../fixture/stream/stream-run.ts';

function detectors(settings: Partial<StreamDetectionSettings>): DetectorConfig[] {
  return [detectorConfig({ settings: streamSettings(settings) })];
}

/** `count` observations from step 0 on, so many a step. */
const dense = (series: string, count: number, perStep: number, value = (_at: number) => 1): Fed[] =>
  Array.from({ length: count }, (_, i) => [series, i / perStep, value(i)]);

async function scoreAll(points: string | readonly Fed[], options: StreamRunOptions): Promise<StreamRun> {
  const run = streamRun(options);
  run.feed(typeof points === 'string' ? observed('s', points) : points);
  await run.scoreAll();
  return run;
}

const values = (run: StreamRun) => lines(run.scores(), ({ timestampMs }) => stepOf(timestampMs), 'value');
/** With the offset of the input. */
const scored = (run: StreamRun) =>
  lines(
    run.scores(),
    ({ timestampMs }) => stepOf(timestampMs),
    'value',
    ({ input }) => input.offset,
  );

test('points of a step are one score, of the place of the last one that arrived', async () => {
  const run = await scoreAll('0.1:1 0.7:3 0.4:8 1:5 2:0', { detectors: detectors({ aggregate: 'mean' }) });
  assert.deepEqual(scored(run), ['0 4 2', '1 5 3']);
});

test('a point that comes twice counts once, and one of a closed step is late', async () => {
  const points = '0.1:1 0.5:3 0.1:1 0.5:9 1.1:5 0.6:7 0.1:1 2:0';
  const run = await scoreAll(points, { detectors: detectors({ aggregate: 'sum' }) });
  assert.deepEqual(scored(run), ['0 4 1', '1 5 4']);
  assert.equal(run.total('duplicates'), 2);
  assert.deepEqual(run.letters('offset'), ['late 5', 'late 6']);
});

test('points across the border of a step count within the lateness', async () => {
  const points = '0.9:1 1.1:5 0.8:2 1.4:6 0.99:4 1.5:7 0.7:8 2.6:0';
  const run = await scoreAll(points, { detectors: detectors({ aggregate: 'sum', latenessMs: STEP_MS / 2 }) });
  assert.deepEqual(scored(run), ['0 7 4', '1 18 5']);
  assert.deepEqual(run.letters('offset'), ['late 6']);
});

test('the last step of a series that ends closes by the event time of others, a step later', async () => {
  const options = { detectors: detectors({ aggregate: 'last' }) };
  const others = dense('other', 20, 10, (i) => i);
  const open = await scoreAll([...observed('s', '0.2:1 0.4:2'), ...others.slice(0, 14)], options);
  assert.ok(open.scores().every(({ series }) => series === 'other'));
  open.feed(others.slice(14));
  const closed = await resumed(open, options);
  const actual = scored(closed).filter((line) => line.endsWith('2 1'));
  assert.deepEqual(actual, ['0 2 1']);
});

test('a series far behind the others closes its steps by its own points', async () => {
  const ahead: Fed[] = Array.from({ length: 40 }, (_, i) => ['ahead', 20 + i / 4, 1]);
  const behind = dense('behind', 20, 4);
  const points = ahead.flatMap((point, i) => [point, ...behind.slice(i - 3, i - 2)].slice(0, i < 3 ? 1 : 2));
  const run = await scoreAll(points, { detectors: detectors({ aggregate: 'count' }) });
  const own = run.scores().filter(({ series }) => series === 'behind');
  assert.deepEqual(lines(own, 'value'), Array(5).fill('4'));
  assert.deepEqual(run.deadLetters(), []);
});

test('beyond the limit of points a further one is a dead letter, until a step closes', () => {
  const open = new OpenSteps(streamSettings({ aggregate: 'count' }), { partition: 0, group: null });
  const record = { partition: 0, offset: 0, timestampMs: 0, key: null, value: null };
  const add = (timestampMs: number) => {
    const closed: Parameters<typeof open.add>[2] = [];
    const taken = open.add({ series: 's', group: null, timestampMs, value: 1, record }, 0, closed);
    return [taken, ...closed.map(({ value }) => value)];
  };
  for (let i = 0; i < OPEN_POINTS_MAX; i++) assert.deepEqual(add(START_MS + i), ['accepted']);
  assert.deepEqual(add(START_MS + OPEN_POINTS_MAX), ['step-full']);
  assert.deepEqual(add(START_MS + STEP_MS), ['accepted', OPEN_POINTS_MAX]);
});

test('an evicted series has its open step among the dead letters, as its last record', async () => {
  const points: Fed[] = [...observed('a', '0:1 0.1:1'), ['b', 0.2, 1], ['c', 0.3, 1]];
  const run = await scoreAll(points, { detectors: detectors({ aggregate: 'mean' }), limits: { seriesMax: 2 } });
  assert.deepEqual(run.letters('offset'), ['late 1']);
  assert.match(JSON.stringify(run.deadLetters()[0]), /the step of its 2 points was open/);
});

test('another aggregate is another quantity: the series starts over, and its open step is a dead letter', async () => {
  const steps = dense('s', 80, 2, (i) => i % 7);
  const run = await scoreAll(steps, { detectors: detectors({ aggregate: 'mean' }) });
  run.feed(observed('s', '40:1 40.5:2 41:3'));
  const changed = await resumed(run, { detectors: detectors({ aggregate: 'max' }) });
  assert.deepEqual(run.letters('offset'), ['late 79']);
  assert.deepEqual(lines(changed.scores().slice(39, 40), 'restarted', 'position', 'value'), ['true 0 2']);
});

test('under other settings of the same points the open step continues', async () => {
  const steps = dense('s', 79, 2, (i) => i % 7);
  const run = await scoreAll(steps, { detectors: detectors({ aggregate: 'sum' }) });
  run.feed(observed('s', '39.5:100 40:1'));
  const changed = await resumed(run, { detectors: detectors({ aggregate: 'sum', detectionSize: 5 }) });
  assert.deepEqual(changed.deadLetters(), []);
  const score = changed.scores().at(-1)!;
  assert.deepEqual([score.position, score.value, score.input.offset], [32, 101, 79]);
});

test('a counter is scored by what it came to; its first record, and the one after a long gap, have no value', async () => {
  const points = '0:100 1:160 1.1:999 2:190 3:30 5:150 30:1000 31:1600';
  const rate = await scoreAll(points, { detectors: detectors({ as: 'rate' }) });
  assert.deepEqual(values(rate), ['1 1', '2 0.5', '3 0.5', '5 1', '31 10']);
  const counts = [rate.total('duplicates'), rate.total('withoutValue')];
  assert.deepEqual(counts, [1, 2]);
  const increase = await scoreAll(points, { detectors: detectors({ as: 'increase' }) });
  // That of two steps is none of one step.
  assert.deepEqual(values(increase), ['1 60', '2 30', '3 30', '31 600']);
  assert.equal(increase.total('withoutValue'), 3);
});

for (const [settings, expected] of [
  [{ as: 'rate' }, [1, 1, 0.5, 1]],
  [{ as: 'rate', aggregate: 'mean' }, [1, 1, 1 / 3]],
  [{ as: 'increase', aggregate: 'sum' }, [15, 60, 15]],
] as const) {
  test(`a counter continues over a restart: ${JSON.stringify(settings)}`, async () => {
    const options = { detectors: detectors(settings) };
    const run = await scoreAll('0:100 0.25:115 1:160', options);
    run.feed(observed('s', '1.25:175 2:190 3:250'));
    const values = (await resumed(run, options)).scores().map(({ value }) => value);
    assert.deepEqual(values, expected);
  });
}

test('NaN is a missing value: no score, no dead letter, and a gap where nothing else comes', async () => {
  const run = await scoreAll('0:1 1:NaN 2:3 2.5:NaN 3:4', { detectors: detectors({}) });
  assert.deepEqual(values(run), ['0 1', '2 3', '3 4']);
  assert.deepEqual([run.deadLetters(), run.total('withoutValue')], [[], 2]);
});

test('a clock closes no step: a series that it finds silent continues with the step that it had', async () => {
  const [config] = detectors({ aggregate: 'count', silenceAfter: 2, context: 16 });
  const loaded = loadArithmetic(config);
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
  await state.reportQuiet({ quietMs: 10 * STEP_MS, elsewhere: new Map() }, { offset, sink }, signal);
  assert.deepEqual(sink.states.slice(-1), ['silent']);
  const before = sink.states.length;
  await send([20.5, 21]);
  assert.deepEqual(sink.states.slice(before), ['returned', 'calibrating']);
  assert.equal(sink.values.at(-1), 2);
});

test('a step that was open as its series fell silent, and has no point since, does not bring it back', async () => {
  const options = { detectors: detectors({ aggregate: 'count', silenceAfter: 2, latenessMs: 4 * STEP_MS }) };
  const run = await scoreAll([...dense('s', 40, 2), ...dense('other', 120, 4)], options);
  const states = run.scores().flatMap(({ series, state }) => (series === 's' ? state : []));
  assert.equal(states.at(-1), 'silent');
  assert.equal(states.filter((state) => state === 'silent' || state === 'returned').length, 1);
});
