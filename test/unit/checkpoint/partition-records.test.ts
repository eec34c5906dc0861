import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DetectorConfig } from '../../../src/config/config.ts';
import { resetSeries, restoreForTools } from '../../../src/engine/offline/state-tools.ts';
import {
  detectorConfig,
  type Fed,
  lines,
  loadArithmetic,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../fixture/stream/stream-run.ts';

const KEPT = detectorConfig({ name: 'kept', series: ['kept*'] });
const before = [KEPT, detectorConfig({ name: 'other', series: ['other*'] })];
const after = [KEPT, { ...before[1], settings: streamSettings({ detectionSize: 6, calibrationSize: 42 }) }];
const loaded = (configs: readonly DetectorConfig[]) => configs.map((config) => loadArithmetic(config));

function appended(run: ReturnType<typeof streamRun>, from: number, to: number): void {
  const at = (step: number) => ['kept', 'other'].map((series): Fed => [series, step, (step * 7) % 5]);
  run.feed(Array.from({ length: to - from }, (_, i) => at(from + i)).flat());
}

async function changedAt(step: number) {
  const run = streamRun({ detectors: before });
  const worker = await run.start();
  appended(run, 0, step);
  await run.settled();
  worker.changeDetectors(loaded(after), 1);
  appended(run, step, 100);
  await run.settled();
  await worker.stop();
  return run;
}

test('detectors that change in a running worker: a series that is not concerned does not notice', async () => {
  const run = await changedAt(60);
  const undisturbed = streamRun({ detectors: before });
  appended(undisturbed, 0, 100);
  await undisturbed.scoreAll();
  const of = (scores: ReturnType<typeof run.scores>) => scores.filter(({ series }) => series === 'kept');
  assert.deepEqual(of(run.scores()), of(undisturbed.scores()));
});

test('a series that is concerned begins with the values it kept, and scores as after a restart', async () => {
  const run = await changedAt(60);
  const restarted = streamRun({ detectors: before });
  appended(restarted, 0, 60);
  await restarted.scoreAll();
  const second = streamRun({ detectors: after, broker: restarted.broker });
  appended(second, 60, 100);
  await second.scoreAll();
  assert.deepEqual(run.scores(), second.scores());
  const other = run.scores().filter(({ series }) => series === 'other');
  const actual = other.flatMap(({ restarted }, i) => (restarted ? [i] : []));
  assert.deepEqual(actual, [60]);
});

test('the changelog records by which version each partition is scored, and from where on', async () => {
  const run = await changedAt(60);
  const versions = run.broker
    .read(TOPICS.changelog, 0)
    .filter(({ key }) => key?.toString() === 'detectors')
    .map(({ value }) => JSON.parse(value!.toString()));
  assert.deepEqual(lines(versions, 'version', 'first_offset'), ['0 0', '1 120']);
});

for (const version of [0, 0.5]) {
  test(`detectors of version ${version} never replace those of version 1: the partition waits for newer ones`, async () => {
    const run = await changedAt(60);
    const failures: Error[] = [];
    const late = streamRun({ detectors: before, broker: run.broker });
    const worker = await late.start(
      { version },
      { retrying: (_partition: number, error: Error) => void failures.push(error) },
    );
    appended(late, 100, 101);
    while (failures.length === 0) await new Promise((next) => setTimeout(next, 5));
    assert.match(failures[0].message, /scored by version 1 of the detectors/);
    assert.equal(late.scores().length, 200, 'nothing was scored by older settings');
    worker.changeDetectors(loaded(after), 2);
    await late.settled();
    await worker.stop();
    assert.equal(late.scores().length, 202);
  });
}

test('a reset of everything in a partition forgets its version: workers may score by the file again', async () => {
  const run = await changedAt(60);
  const log = run.broker.openLog();
  const lookup = { detectorOf: () => null, detectorNamed: new Map(), detectorsVersion: Number.POSITIVE_INFINITY };
  const found = await restoreForTools(await log.openPartition(0), TOPICS.observations, lookup);
  assert.equal(await resetSeries(found, { glob: '*', topics: TOPICS }), 2);
  await log.close();
  const again = streamRun({ detectors: before, broker: run.broker });
  appended(again, 100, 101);
  await again.scoreAll();
  assert.deepEqual(lines(again.scores().slice(200), 'position', 'restarted'), ['0 false', '0 false']);
});
