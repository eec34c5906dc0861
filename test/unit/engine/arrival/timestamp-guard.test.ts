import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScoreRecord } from '../../../../src/records/score-record.ts';
import { parseFrequency } from '../../../../src/time/frequency.ts';
import { bothWays, inStream, type TimedValue } from '../../../fixture/stream/both-ways.ts';
import {
  detectorConfig,
  lines,
  observationRecord,
  STEP_MS,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../../fixture/stream/stream-run.ts';
import type { MemoryBroker } from '../../../fixture/stream-log/memory-log.ts';
import { until } from '../../../fixture/until.ts';

const HOURS_23 = 23 * 60;
const detector = detectorConfig({ settings: streamSettings({ context: 2_000, gapLimit: 2_000 }) });

const steps = (from: number, to: number, series = 's'): TimedValue[] =>
  Array.from({ length: to - from }, (_, i) => [series, from + i, (from + i) % 4]);

/** Step by step, of two series. */
const both = (from: number, to: number): TimedValue[] =>
  steps(from, to).flatMap(([, ...rest]) => ['a', 'b'].map((series) => [series, ...rest] as const));

const scoredSteps = (scores: readonly { series: string; position: number }[], series = 's') =>
  scores.filter((score) => score.series === series).map(({ position }) => position);

test('one wrong timestamp does not silence a series: it becomes a dead letter, and all others are scored', async () => {
  const wrong: TimedValue = ['s', 60 + HOURS_23, 1];
  for (const outcome of Object.values(await bothWays([...steps(0, 60), wrong, ...steps(60, 120)], detector))) {
    assert.deepEqual(scoredSteps(outcome.scores), [...Array(120).keys()]);
    assert.deepEqual(outcome.refused, { 'time-unconfirmed': 1 });
  }
});

test('a wrong timestamp that is sent twice does not confirm itself', async () => {
  const wrong: TimedValue = ['s', 60 + HOURS_23, 1];
  const observations = [...steps(0, 60), wrong, wrong, wrong, ...steps(60, 120)];
  const { scores, refused, duplicates } = await inStream(observations, detector);
  assert.deepEqual(scoredSteps(scores), [...Array(120).keys()]);
  assert.deepEqual([refused, duplicates], [{ 'time-unconfirmed': 1 }, 2]);
});

test('a jump that the next record of the series agrees with is scored as usual, both records', async () => {
  for (const { scores, refused } of Object.values(await bothWays([...steps(0, 60), ...steps(300, 310)], detector))) {
    assert.deepEqual(refused, {});
    assert.deepEqual(scoredSteps(scores), [...Array(60).keys(), ...Array.from({ length: 10 }, (_, i) => 300 + i)]);
  }
});

test('a jump to where another series has been waits for nothing', async () => {
  const observations: TimedValue[] = [...steps(0, 60), ...steps(0, 320, 'other'), ['s', 300, 0]];
  const { scores, refused } = await inStream(observations, detector);
  assert.deepEqual(refused, {});
  assert.equal(scoredSteps(scores).at(-1), 300);
});

test('after an outage of all series, the first records of two series confirm each other', async () => {
  const { scores, refused } = await inStream([...both(0, 60), ...both(300, 301)], detector);
  assert.deepEqual(refused, {});
  assert.deepEqual([scoredSteps(scores, 'a').at(-1), scoredSteps(scores, 'b').at(-1)], [300, 300]);
});

test('a second jump to another time refutes the first', async () => {
  const observations: TimedValue[] = [...steps(0, 60), ['s', 500, 0], ['s', 900, 0], ...steps(60, 70)];
  const { scores, refused } = await inStream(observations, detector);
  assert.deepEqual(refused, { 'time-unconfirmed': 2 });
  assert.deepEqual(scoredSteps(scores), [...Array(70).keys()]);
});

test('single records between long gaps are all scored except the last two, which wait', async () => {
  const sparse = Array.from({ length: 8 }, (_, i): TimedValue => ['s', 100 + 40 * i, i]);
  const { scores, refused } = await inStream([...steps(0, 60), ...sparse], detector);
  assert.deepEqual(refused, {});
  assert.deepEqual(scoredSteps(scores).slice(60), [100, 140, 180, 220, 260, 300]);
});

test('a record that is held survives a restart, and is scored when the next record agrees with it', async () => {
  const run = streamRun({ detectors: [detector] });
  run.feed([...steps(0, 60), ['s', 300, 7]]);
  await run.scoreAll();
  assert.equal(run.scores().length, 60);
  run.feed([['s', 301, 8]]);
  await run.scoreAll();
  const held = lines(run.scores().slice(60), 'position', 'value', ({ input }) => input.offset);
  assert.deepEqual(held, ['300 7 60', '301 8 61']);
});

test('records that arrive out of order within allowed_lateness are scored as if they had come in order', async () => {
  const shuffled = steps(0, 200).map((row, i): [TimedValue, number] => [row, i + ((i * 7_919) % 7) * 0.9]);
  const late = shuffled.sort((a, b) => a[1] - b[1]).map(([row]) => row);
  const patient = detectorConfig({ settings: streamSettings({ latenessMs: 7 * 60_000 }) });
  const ordered = await inStream(steps(0, 200), detectorConfig());
  const places = (scores: readonly ScoreRecord[]) => scores.map(({ input: _, ...score }) => score);
  const { stream, backtest } = await bothWays(late, patient);
  assert.deepEqual([stream.refused, backtest.refused], [{}, {}]);
  const byTime = (scores: readonly ScoreRecord[]) => [...scores].sort((a, b) => a.timestampMs - b.timestampMs);
  assert.deepEqual(places(byTime(stream.scores)), places(ordered.scores).slice(0, stream.scores.length));
  assert.ok(stream.scores.length >= 192, 'the newest wait');
  assert.deepEqual(places(byTime(backtest.scores)), places(ordered.scores));
});

test('records that wait for older ones never make a state that is too large for the broker', async () => {
  const patient = detectorConfig({ settings: streamSettings({ latenessMs: 60 * 60_000 }) });
  const run = streamRun({ detectors: [patient], limits: { commitRecordsMax: 10 } });
  for (const [series, step, value] of steps(0, 100)) {
    const { key, value: bytes } = observationRecord(series, step, value);
    run.broker.append(0, key, Buffer.concat([bytes, Buffer.alloc(24_000, ' ')]));
  }
  await run.scoreAll();
  const largest = Math.max(...run.broker.read(TOPICS.changelog, 0).map(({ value }) => value?.length ?? 0));
  assert.ok(largest < 300_000, `${largest} bytes`);
  assert.deepEqual(scoredSteps(run.scores()), [...Array(95).keys()]);
});

test('after a restart, the first records of a series that wait are placed as without it', async () => {
  const run = streamRun({ detectors: [detectorConfig({ settings: streamSettings({ latenessMs: 3 * 60_000 }) })] });
  const observations: TimedValue[] = [['s', 0, 1], ['s', 0, 1], ...steps(1, 9)];
  const first = await inStream(observations.slice(0, 3), undefined, run);
  const { scores, refused, duplicates } = await inStream(observations.slice(3), undefined, run);
  assert.deepEqual([first.scores.length, refused, duplicates], [0, {}, 1]);
  assert.deepEqual(scoredSteps(scores), [...Array(6).keys()]);
});

test('records that wait are scored when allowed_lateness becomes 0', async () => {
  const under = async (latenessMs: number, observations: readonly TimedValue[], broker?: MemoryBroker) => {
    const detectors = [detectorConfig({ settings: streamSettings({ latenessMs }) })];
    const run = streamRun({ detectors, ...(broker && { broker }) });
    await inStream(observations, detectors[0], run);
    return run;
  };
  const first = await under(5 * 60_000, steps(0, 60));
  const second = await under(0, steps(60, 90), first.broker);
  assert.deepEqual(scoredSteps(second.scores()), [...Array(90).keys()]);
});

test('records that wait become dead letters where their series starts over on another grid', async () => {
  const run = streamRun({ detectors: [detectorConfig({ settings: streamSettings({ latenessMs: 5 * 60_000 }) })] });
  await inStream([...steps(0, 60), ['s', 500, 1]], undefined, run);
  const detectors = [detectorConfig({ settings: streamSettings({ freq: parseFrequency('2min')! }) })];
  const second = streamRun({ detectors, broker: run.broker });
  await inStream(steps(60, 62), detectors[0], second);
  const late = [55, 56, 57, 58, 59].map((offset) => `late ${offset}`);
  assert.deepEqual(second.letters('offset'), [...late, 'time-unconfirmed 60']);
});

test('after a change of settings, what waits is known to a restart: a pause of all then forgets nobody', async () => {
  const patient = { latenessMs: 10 * 60_000, idleMs: 30 * 60_000, gapLimit: 300, context: 64 };
  const before = detectorConfig({ settings: streamSettings({ ...patient, latenessMs: 0 }) });
  const after = detectorConfig({ settings: streamSettings({ ...patient, calibrationSize: 28 }) });
  const all = (from: number, to: number, series = ['a', 'b', 's']) =>
    Array.from({ length: to - from }, (_, i) => series.flatMap((id) => steps(from + i, from + i + 1, id))).flat();
  const outcome = async (parts: readonly (readonly TimedValue[])[]) => {
    const first = streamRun({ detectors: [before] });
    await inStream(all(0, 60), before, first);
    const run = streamRun({ detectors: [after], broker: first.broker });
    for (const part of parts) await inStream(part, after, run);
    await until('what waited is scored', async () => {
      await inStream([], after, run);
      return scoredSteps(run.scores()).includes(61);
    });
    return run.scores().sort((a, b) => a.input.offset - b.input.offset);
  };
  const [some, rest] = [all(60, 62), [...all(260, 262, ['a', 'b']), ...all(262, 280)]];
  assert.deepEqual(await outcome([some, rest]), await outcome([[...some, ...rest]]));
});

test('a member of a group with one wrong timestamp does not move the group', async () => {
  const size = { calibrationSize: 28, context: 2_000, gapLimit: 2_000 };
  const settings = streamSettings({ thresholdMethod: 'multivariate', ...size });
  const group = detectorConfig({ group: 'group', settings });
  const observations: TimedValue[] = [...both(0, 60), ['a', 60 + HOURS_23, 1], ...both(60, 90)];
  for (const { scores, refused } of Object.values(await bothWays(observations, group))) {
    assert.deepEqual(refused, { 'time-unconfirmed': 1 });
    assert.deepEqual(scoredSteps(scores, 'a'), [...Array(90).keys()]);
  }
});

test('more steps may close at once than a call has arguments', async () => {
  const series = Array.from({ length: 2_500 }, (_, i) => `s${i}`);
  const open = 60;
  const many = detectorConfig({ settings: streamSettings({ aggregate: 'last', latenessMs: open * STEP_MS }) });
  const points = Array.from({ length: open }, (_, step) => series.map((name): TimedValue => [name, step, 1])).flat();
  const later: TimedValue[] = ['s0', 's1', 's0'].map((name, i) => [name, 200 + i, 1]);
  // Each commit writes the open steps again.
  const run = streamRun({ detectors: [many], limits: { commitIntervalMs: 1_000, commitRecordsMax: points.length } });
  const { scores, refused } = await inStream([...points, ...later], many, run);
  assert.deepEqual(refused, {});
  assert.ok(scores.length >= points.length, `${scores.length} scores`);
});
