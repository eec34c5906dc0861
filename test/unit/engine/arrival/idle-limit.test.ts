import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DetectorConfig } from '../../../../src/config/config.ts';
import { bothWays, inStream, type TimedValue } from '../../../fixture/stream/both-ways.ts';
import {
  detectorConfig,
  observationRecord,
  STEP_MS,
  type StreamRun,
  streamRun,
  streamSettings,
} from '../../../fixture/stream/stream-run.ts';

const IDLE = 50;
const settings = streamSettings({ context: 32, gapLimit: 300, silenceAfter: 5, idleMs: IDLE * STEP_MS });
const detector = detectorConfig({ settings });

/** Two series that go on, and one that has observations only where `isThere`. */
function steps(from: number, to: number, isThere: (step: number) => boolean = () => true): TimedValue[] {
  return Array.from({ length: to - from }, (_, i) => from + i).flatMap((step): TimedValue[] => [
    ...(isThere(step) ? [['gone', step, step % 4] as const] : []),
    ['a', step, step % 4],
    ['b', step, step % 4],
  ]);
}

function forgotten(run: StreamRun) {
  const sum = { idle: 0, 'series-max': 0 };
  for (const tally of run.tallies) {
    sum.idle += tally.forgotten.idle;
    sum['series-max'] += tally.forgotten['series-max'];
  }
  return sum;
}

/** How many series, groups and stale states a worker restores. */
async function restoredUnits(detectors: readonly DetectorConfig[], from: StreamRun): Promise<number> {
  let found = 0;
  const outdated: number[] = [];
  const run = streamRun({ detectors, broker: from.broker });
  const restored = Promise.withResolvers<void>();
  const worker = await run.start(
    {},
    {
      restored: (_, { units }) => {
        found = units;
        setImmediate(restored.resolve);
      },
      settingsChanged: (_, units) => void outdated.push(units),
    },
  );
  await restored.promise;
  await worker.stop();
  return found + outdated.reduce((sum, units) => sum + units, 0);
}

test('a series without an observation for idle_limit is forgotten in state and changelog, and returns as a new one', async () => {
  const observations = steps(0, 140, (step) => step < 30 || step >= 100);
  for (const { scores } of Object.values(await bothWays(observations, detector))) {
    const own = scores.filter(({ series }) => series === 'gone');
    const returned = own.findIndex(({ value }, i) => i > 0 && own[i - 1].state === 'silent' && value !== null);
    assert.deepEqual(
      own.slice(returned, returned + 2).map(({ position, restarted, state }) => [position, restarted, state]),
      [
        [0, false, 'warming-up'],
        [1, false, 'warming-up'],
      ],
    );
  }
  const run = streamRun({ detectors: [detector] });
  await inStream(
    steps(0, 30 + IDLE + 1, (step) => step < 30),
    detector,
    run,
  );
  assert.deepEqual([forgotten(run).idle, await restoredUnits([detector], run)], [1, 2]);
});

test('a series that falls silent, or is forgotten, before it is calibrated has ended young; others have not', async () => {
  const young = async (observations: readonly TimedValue[], silenceAfter: number | null) => {
    const watching = detectorConfig({ settings: { ...settings, silenceAfter } });
    const run = streamRun({ detectors: [watching] });
    await inStream(observations, watching, run);
    return [...new Set(run.tallies.flatMap(({ input }) => [...input.young].flatMap(([, series]) => [...series])))];
  };
  const brief = steps(0, 20 + IDLE + 2, (step) => step < 20);
  assert.deepEqual(await young(brief, 5), ['gone']);
  assert.deepEqual(await young(brief, null), ['gone']);
  assert.deepEqual(await young(brief.slice(0, 20 * 3 + 3 * 2), null), []);
  assert.deepEqual(
    await young(
      steps(0, 300, (step) => step < 200),
      5,
    ),
    [],
  );
});

test('up to the limit a series continues where it was', async () => {
  const run = streamRun({ detectors: [detector] });
  const last = 29;
  const { scores } = await inStream(
    steps(0, 100, (step) => step <= last || step >= last + IDLE),
    detector,
    run,
  );
  assert.equal(forgotten(run).idle, 0);
  const own = scores.filter(({ series, state }) => series === 'gone' && state !== 'silent' && state !== 'returned');
  assert.equal(own[last + 1].position, last + IDLE);
});

test('the open event of a forgotten series is closed', async () => {
  const { events } = await inStream(
    steps(0, 120, (step) => step < 30),
    detector,
  );
  assert.deepEqual(
    events.filter(({ series }) => series === 'gone').map(({ type, kind, closeReason }) => [type, kind, closeReason]),
    [
      ['opened', 'silence', null],
      ['closed', 'silence', 'evicted'],
    ],
  );
});

test('a series that catches up, further behind than the limit, is not forgotten while its records come', async () => {
  for (const silenceAfter of [5, null]) {
    const patient = detectorConfig({ settings: { ...settings, silenceAfter } });
    const ahead = steps(0, 200, () => false);
    const behind = Array.from({ length: 100 }, (_, step): TimedValue => ['gone', step, step % 4]);
    const run = streamRun({ detectors: [patient] });
    const { scores } = await inStream([...ahead, ...behind, ...steps(200, 230, () => false)], patient, run);
    assert.deepEqual([forgotten(run).idle, scores.at(-1)?.series], [0, 'b']);
    const own = scores.filter(({ series, state }) => series === 'gone' && state !== 'silent');
    assert.equal(own.at(-1)?.position, 99);
  }
});

test('records that wait for older ones are scored before their series is forgotten', async () => {
  const patient = detectorConfig({ settings: { ...settings, silenceAfter: null, latenessMs: 20 * STEP_MS } });
  const run = streamRun({ detectors: [patient] });
  const { scores, refused } = await inStream(
    steps(0, 120, (step) => step < 30),
    patient,
    run,
  );
  assert.equal(scores.filter(({ series }) => series === 'gone').length, 30);
  assert.deepEqual([refused, forgotten(run).idle], [{}, 1]);
});

test('a group that is gone is forgotten, after the steps that wait for a member are scored', async () => {
  const grouped = detectorConfig({
    name: 'grouped',
    series: ['m*'],
    group: 'group',
    settings: streamSettings({
      thresholdMethod: 'multivariate',
      calibrationSize: 28,
      grace: 3,
      idleMs: IDLE * STEP_MS,
    }),
  });
  const run = streamRun({ detectors: [grouped, detectorConfig({ settings })] });
  const worker = await run.start();
  const feed = (series: string, step: number, group?: string) => {
    run.broker.appendRecord(0, observationRecord(series, step, step % 5, group));
  };
  for (let step = 0; step < 100; step++) {
    if (step < 40) feed('m1', step, 'g');
    // The last two steps wait for it.
    if (step < 38) feed('m2', step, 'g');
    feed('a', step);
    feed('b', step);
  }
  await run.settled();
  await worker.stop();
  assert.equal(run.scores().filter(({ group }) => group === 'g').length, 78);
  assert.deepEqual([forgotten(run).idle, await restoredUnits([grouped, detectorConfig({ settings })], run)], [1, 2]);
});

test('states of earlier settings are forgotten after the same time', async () => {
  const changed = detectorConfig({ settings: { ...settings, h: 2, stepSize: 2, detectionSize: 2 } });
  const run = streamRun({ detectors: [detector] });
  await inStream(steps(0, 30), detector, run);
  const next = streamRun({ detectors: [changed], broker: run.broker });
  await inStream(
    steps(30, 100, () => false),
    changed,
    next,
  );
  assert.equal(forgotten(next).idle, 1);
  assert.equal(await restoredUnits([changed], next), 2);
});

test('states of earlier settings count for the limit of series, and are evicted like others', async () => {
  const seriesMax = 50;
  const counts: number[] = [];
  let run: StreamRun | null = null;
  for (let change = 0; change < 5; change++) {
    const grouped = detectorConfig({
      name: `name-${change}`,
      group: 'group',
      settings: streamSettings({ thresholdMethod: 'multivariate', calibrationSize: 28 }),
    });
    run = streamRun({ detectors: [grouped], limits: { seriesMax }, ...(run && { broker: run.broker }) });
    const worker = await run.start();
    for (let series = 0; series < seriesMax; series++) {
      run.broker.appendRecord(0, observationRecord(`s${series}`, change, 1, `g${series}`));
    }
    await run.settled();
    await worker.stop();
    counts.push(await restoredUnits([grouped], run));
  }
  assert.ok(
    counts.every((count) => count <= seriesMax),
    `${counts}`,
  );
  assert.ok(
    counts.every((count) => count > seriesMax * 0.9),
    `${counts}`,
  );
});

test('a pause of the whole partition, longer than the limit, makes no series gone', async () => {
  const run = streamRun({ detectors: [detector] });
  const { scores } = await inStream([...steps(0, 30), ...steps(30 + 2 * IDLE, 60 + 2 * IDLE)], detector, run);
  assert.equal(forgotten(run).idle, 0);
  assert.ok(scores.filter(({ series }) => series === 'gone').every(({ position }, i) => i === 0 || position > 0));
});
