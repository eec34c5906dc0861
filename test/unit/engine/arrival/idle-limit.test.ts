import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DetectorConfig } from '../../../../src/config/config.ts';
import { bothWays, inStream, stepsWith, type TimedValue } from '../../../fixture/stream/both-ways.ts';
import {
  detectorConfig,
  type Fed,
  groupDetector,
  lines,
  STEP_MS,
  type StreamRun,
  streamRun,
  streamSettings,
} from '../../../fixture/stream/stream-run.ts';

const IDLE = 50;
const settings = streamSettings({ context: 32, gapLimit: 300, silenceAfter: 5, idleMs: IDLE * STEP_MS });
const detector = detectorConfig({ settings });

const steps = stepsWith('gone');

const forgotten = (run: StreamRun) => run.total((tally) => tally.forgotten.idle);

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
    const first = lines(own.slice(returned, returned + 2), 'position', 'restarted', 'state');
    assert.deepEqual(first, ['0 false warming-up', '1 false warming-up']);
  }
  const run = streamRun({ detectors: [detector] });
  const stopped = steps(0, 30 + IDLE + 1, (step) => step < 30);
  await inStream(stopped, detector, run);
  assert.deepEqual([forgotten(run), await restoredUnits([detector], run)], [1, 2]);
});

test('a series that falls silent, or is forgotten, before it is calibrated was short-lived; others were not', async () => {
  const shortLived = async (observations: readonly TimedValue[], silenceAfter: number | null) => {
    const watching = detectorConfig({ settings: { ...settings, silenceAfter } });
    const run = streamRun({ detectors: [watching] });
    await inStream(observations, watching, run);
    return [...new Set(run.tallies.flatMap(({ input }) => [...input.shortLived].flatMap(([, series]) => [...series])))];
  };
  const brief = steps(0, 20 + IDLE + 2, (step) => step < 20);
  assert.deepEqual(await shortLived(brief, 5), ['gone']);
  assert.deepEqual(await shortLived(brief, null), ['gone']);
  assert.deepEqual(await shortLived(brief.slice(0, 20 * 3 + 3 * 2), null), []);
  const calibrated = steps(0, 300, (step) => step < 200);
  assert.deepEqual(await shortLived(calibrated, 5), []);
});

test('up to the limit a series continues where it was', async () => {
  const run = streamRun({ detectors: [detector] });
  const last = 29;
  const paused = steps(0, 100, (step) => step <= last || step >= last + IDLE);
  const { scores } = await inStream(paused, detector, run);
  assert.equal(forgotten(run), 0);
  const own = scores.filter(({ series, state }) => series === 'gone' && state !== 'silent' && state !== 'returned');
  assert.equal(own[last + 1].position, last + IDLE);
});

test('the open event of a forgotten series is closed', async () => {
  const stopped = steps(0, 120, (step) => step < 30);
  const { events } = await inStream(stopped, detector);
  const own = events.filter(({ series }) => series === 'gone');
  assert.deepEqual(lines(own, 'type', 'kind', 'closeReason'), ['opened silence null', 'closed silence evicted']);
});

test('a series that catches up, further behind than the limit, is not forgotten while its records come', async () => {
  for (const silenceAfter of [5, null]) {
    const patient = detectorConfig({ settings: { ...settings, silenceAfter } });
    const ahead = steps(0, 200, () => false);
    const behind = Array.from({ length: 100 }, (_, step): TimedValue => ['gone', step, step % 4]);
    const run = streamRun({ detectors: [patient] });
    const { scores } = await inStream([...ahead, ...behind, ...steps(200, 230, () => false)], patient, run);
    assert.deepEqual([forgotten(run), scores.at(-1)?.series], [0, 'b']);
    const own = scores.filter(({ series, state }) => series === 'gone' && state !== 'silent');
    assert.equal(own.at(-1)?.position, 99);
  }
});

test('records that wait for older ones are scored before their series is forgotten', async () => {
  const patient = detectorConfig({ settings: { ...settings, silenceAfter: null, latenessMs: 20 * STEP_MS } });
  const run = streamRun({ detectors: [patient] });
  const stopped = steps(0, 120, (step) => step < 30);
  const { scores, refused } = await inStream(stopped, patient, run);
  assert.equal(scores.filter(({ series }) => series === 'gone').length, 30);
  assert.deepEqual([refused, forgotten(run)], [{}, 1]);
});

test('a group that is gone is forgotten, after the steps that wait for a member are scored', async () => {
  const grouped = groupDetector(
    { calibrationSize: 28, grace: 3, idleMs: IDLE * STEP_MS },
    { name: 'grouped', series: ['m*'] },
  );
  const run = streamRun({ detectors: [grouped, detectorConfig({ settings })] });
  for (let step = 0; step < 100; step++) {
    const member = (series: string): Fed => [series, step, step % 5, 'g'];
    if (step < 40) run.feed([member('m1')]);
    // The last two steps wait for it.
    if (step < 38) run.feed([member('m2')]);
    run.feed(steps(step, step + 1, () => false));
  }
  await run.scoreAll();
  assert.equal(run.scores().filter(({ group }) => group === 'g').length, 78);
  assert.deepEqual([forgotten(run), await restoredUnits([grouped, detectorConfig({ settings })], run)], [1, 2]);
});

test('states of earlier settings are forgotten after the same time', async () => {
  const changed = detectorConfig({ settings: { ...settings, h: 2, stepSize: 2, detectionSize: 2 } });
  const run = streamRun({ detectors: [detector] });
  await inStream(steps(0, 30), detector, run);
  const next = streamRun({ detectors: [changed], broker: run.broker });
  const others = steps(30, 100, () => false);
  await inStream(others, changed, next);
  assert.equal(forgotten(next), 1);
  assert.equal(await restoredUnits([changed], next), 2);
});

test('states of earlier settings count for the limit of series, and are evicted like others', async () => {
  const seriesMax = 50;
  const counts: number[] = [];
  let run: StreamRun | null = null;
  for (let change = 0; change < 5; change++) {
    const grouped = groupDetector({ calibrationSize: 28 }, { name: `name-${change}` });
    run = streamRun({ detectors: [grouped], limits: { seriesMax }, ...(run && { broker: run.broker }) });
    run.feed(Array.from({ length: seriesMax }, (_, i): Fed => [`s${i}`, change, 1, `g${i}`]));
    await run.scoreAll();
    counts.push(await restoredUnits([grouped], run));
  }
  assert.ok(Math.max(...counts) <= seriesMax && Math.min(...counts) > seriesMax * 0.9, `${counts}`);
});

test('a pause of the whole partition, longer than the limit, makes no series gone', async () => {
  const run = streamRun({ detectors: [detector] });
  const { scores } = await inStream([...steps(0, 30), ...steps(30 + 2 * IDLE, 60 + 2 * IDLE)], detector, run);
  assert.equal(forgotten(run), 0);
  assert.ok(scores.filter(({ series }) => series === 'gone').every(({ position }, i) => i === 0 || position > 0));
});
