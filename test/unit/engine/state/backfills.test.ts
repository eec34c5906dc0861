import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { decodePosition, POSITION_KEY } from '../../../../src/checkpoint/partition-records.ts';
import {
  detectorConfig,
  type Fed,
  lines,
  resumed,
  START_MS,
  STEP_MS,
  type StreamRun,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';
import { virtualTest as test } from '../../../fixture/virtual-time.ts';

const FLEET = Array.from({ length: 20 }, (_, i) => `fleet-${i}`);
const SERIES = [...FLEET, 'other'];
const other = detectorConfig({
  name: 'other',
  series: ['other'],
  settings: streamSettings({ context: 64, gapLimit: 64 }),
});
const before = [other, detectorConfig({ settings: streamSettings({ context: 64, gapLimit: 64 }) })];
const after = [other, detectorConfig({ settings: streamSettings({ context: 64, gapLimit: 64, calibrationSize: 28 }) })];
/** The first round is made at once, and the next one after many seconds. */
const SLOW = { backfillForecastsPerSMax: 1 };

function append(run: StreamRun, steps: readonly number[], series: readonly string[] = SERIES): void {
  run.feed(steps.flatMap((step) => series.map((id): Fed => [id, step, ((step * 7) % 11) + id.length])));
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

/** A broker whose fleet was scored for 60 steps under the settings before. */
async function scoredFleet(): Promise<StreamRun> {
  const run = streamRun({ detectors: before });
  append(run, range(0, 60));
  await run.scoreAll();
  return run;
}

/** After a change of settings: step 60 of the fleet waits for its backfill. */
async function waitingFleet(): Promise<StreamRun> {
  const first = await scoredFleet();
  append(first, [60]);
  const slow = streamRun({ detectors: after, limits: SLOW, broker: first.broker });
  const worker = await slow.start();
  await until('every record is covered by a commit', () => first.broker.committedOffset(0) === 61 * SERIES.length);
  await worker.stop();
  return first;
}

const bySeries = (run: StreamRun, from: number) =>
  Map.groupBy(
    run.scores().filter(({ position }) => position >= from),
    ({ series }) => series,
  );

test('while a fleet waits for its backfill another series is scored; a worker that takes over scores what waited', async () => {
  const first = await scoredFleet();
  append(first, range(60, 63));
  const slow = streamRun({ detectors: after, limits: SLOW, broker: first.broker });
  const waiting: number[] = [];
  const worker = await slow.start({}, { committed: (_partition, { backfills }) => void waiting.push(backfills) });
  await until('every record is covered by a commit', () => first.broker.committedOffset(0) === 63 * SERIES.length);
  await until('the other series is scored', () => bySeries(slow, 60).get('other')?.length === 3);
  assert.equal(waiting.at(-1), FLEET.length);
  assert.deepEqual([...bySeries(slow, 60).keys()], ['other']);
  await worker.stop();

  const second = await resumed(first, { detectors: after });
  const scores = bySeries(second, 60);
  for (const id of FLEET) {
    const own = lines(scores.get(id)!, 'position', 'restarted', 'state');
    assert.deepEqual(own, ['60 true scored', '61 false scored', '62 false scored']);
  }
  assert.equal(second.total('backfilled'), FLEET.length);
});

test('the event time of the partition is in every commit, also in one of a backfill alone', async () => {
  const first = await scoredFleet();
  append(first, [60]);
  const run = await resumed(first, { detectors: after, limits: { commitIntervalMs: 1 } });
  await until('the fleet is scored', async () => {
    const worker = await run.start();
    await setTimeout(50);
    await worker.stop();
    return bySeries(run, 60).size === SERIES.length;
  });
  const positions = run.broker.read(TOPICS.changelog, 0).filter(({ key }) => key?.equals(POSITION_KEY));
  const clocks = positions.map(({ value }) => decodePosition(value!).watermark?.secondMs);
  assert.deepEqual([clocks.includes(undefined), clocks.at(-1)], [false, START_MS + 60 * STEP_MS]);
});

test('with more records than may wait the turn of a series comes at once', async () => {
  const first = await scoredFleet();
  append(first, range(60, 360), ['fleet-3']);
  const run = await resumed(first, { detectors: after, limits: SLOW });
  assert.equal(bySeries(run, 60).get('fleet-3')?.length, 300);
});

test('records that wait as their detector is removed become dead letters', async () => {
  const first = await waitingFleet();
  append(first, [61], ['other']);
  const run = await resumed(first, { detectors: [other] });
  const expected = FLEET.map((id) => `series-unknown ${id}`);
  assert.deepEqual(run.letters('series'), expected);
  assert.equal((await resumed(first, { detectors: [other] })).deadLetters().length, FLEET.length);
});

test('records that wait continue without a backfill where the settings are the old ones again', async () => {
  const first = await waitingFleet();
  append(first, [61]);
  const run = await resumed(first, { detectors: before });
  for (const id of FLEET) {
    assert.deepEqual(lines(bySeries(run, 60).get(id)!, 'position', 'restarted'), ['60 false', '61 false']);
  }
});
