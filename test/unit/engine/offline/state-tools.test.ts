import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  inspectSeries,
  keptObservations,
  resetSeries,
  restoreForTools,
} from '../../../../src/engine/offline/state-tools.ts';
import {
  detectorConfig,
  loadArithmetic,
  observationRecord,
  START_MS,
  STEP_MS,
  streamRun,
  TOPICS,
} from '../../../fixture/stream/stream-run.ts';

const config = detectorConfig();
const loaded = loadArithmetic(config);
const lookup = { detectorOf: () => loaded, detectorNamed: new Map([[config.name, loaded]]) };

async function scored() {
  const run = streamRun();
  const append = (from: number, to: number) => {
    for (let step = from; step < to; step++) {
      for (const series of ['web-1', 'web-2', 'db']) {
        run.broker.appendRecord(0, observationRecord(series, step, step % 4));
      }
    }
  };
  append(0, 50);
  await run.scoreAll();
  return { run, append };
}

test('an inspection shows what a worker would restore', async () => {
  const { run } = await scored();
  const session = await run.broker.openLog().openPartition(0);
  const found = await restoreForTools(session, TOPICS.observations, lookup);
  const [web, ...others] = inspectSeries(found, 'web-*');
  assert.equal(others.length, 1);
  assert.deepEqual(
    [web.series, web.position, web.newestMs, web.silent, web.waiting],
    ['web-1', 50, START_MS + 49 * STEP_MS, false, 0],
  );
  assert.ok(web.calibrated >= 24);
});

test('an export has the kept values with their times', async () => {
  const { run } = await scored();
  const session = await run.broker.openLog().openPartition(0);
  const rows = [...keptObservations(await restoreForTools(session, TOPICS.observations, lookup), 'db')];
  const first = 50 - config.settings.context;
  assert.deepEqual(
    rows,
    Array.from({ length: config.settings.context }, (_, i) => ({
      series: 'db',
      timestampMs: START_MS + (first + i) * STEP_MS,
      value: (first + i) % 4,
    })),
  );
});

test('an export has the digits that were sent, not those of single precision', async () => {
  const run = streamRun();
  const sent = [21.1, 21.3203, 1e-7, -4000.25, 123456.789, 21.1, 0.3];
  sent.forEach((value, step) => {
    run.broker.appendRecord(0, observationRecord('db', step, value));
  });
  await run.scoreAll();
  const session = await run.broker.openLog().openPartition(0);
  const rows = [...keptObservations(await restoreForTools(session, TOPICS.observations, lookup), 'db')];
  const values = rows.map(({ value }) => value);
  assert.deepEqual(values, [21.1, 21.3203, 0, -4000.25, 123456.79, 21.1, 0.3]);
});

test('a dry reset counts what would start over, and changes nothing', async () => {
  const { run } = await scored();
  const session = await run.broker.openLog().openPartition(0);
  const found = await restoreForTools(session, TOPICS.observations, lookup);
  assert.equal(await resetSeries(found, { glob: 'web-*', topics: TOPICS, isDry: true }), 2);
  await session.close();
  const again = await run.broker.openLog().openPartition(0);
  const after = await restoreForTools(again, TOPICS.observations, lookup);
  assert.deepEqual([...after.state.units.keys()], [...found.state.units.keys()]);
});

test('a series that is reset starts over, and the others continue where they were', async () => {
  const { run, append } = await scored();
  const session = await run.broker.openLog().openPartition(0);
  const found = await restoreForTools(session, TOPICS.observations, lookup);
  assert.equal(await resetSeries(found, { glob: 'web-1', topics: TOPICS }), 1);
  await session.close();
  append(50, 52);
  await run.scoreAll();
  assert.deepEqual(
    run
      .scores()
      .slice(150)
      .map(({ series, position }) => [series, position]),
    [
      ['web-1', 0],
      ['web-2', 50],
      ['db', 50],
      ['web-1', 1],
      ['web-2', 51],
      ['db', 51],
    ],
  );
});
