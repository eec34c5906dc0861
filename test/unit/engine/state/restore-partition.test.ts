import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { digestOfKey } from '../../../../src/checkpoint/known-settings.ts';
import { COUNTED_BUFFERS } from '../../../../src/checkpoint/rare-collections.ts';
import { windowOfKey } from '../../../../src/checkpoint/window-records.ts';
import { PartitionState } from '../../../../src/engine/state/partition-state.ts';
import { type DetectorLookup, restorePartition } from '../../../../src/engine/state/restore-partition.ts';
import {
  detectorConfig,
  loadArithmetic,
  type StreamRun,
  streamRun,
  TOPICS,
} from '../../../fixture/stream/stream-run.ts';

const SERIES = ['web-1', 'web-2', 'db'];
const STEPS = 150;
const loaded = loadArithmetic(detectorConfig());

async function scored(): Promise<StreamRun> {
  const run = streamRun();
  for (let step = 0; step < STEPS; step++) {
    run.feed(SERIES.map((series, i) => [series, step, ((step * (i + 2)) % 7) + (step === 70 ? 40 : 0)] as const));
  }
  await run.scoreAll();
  return run;
}

async function restored(
  { broker }: StreamRun,
  detectors: DetectorLookup,
  { isCompacted = false, knowsSettings = true } = {},
): Promise<PartitionState> {
  const session = await broker.openLog().openPartition(0);
  const newest = new Map(broker.read(TOPICS.changelog, 0).map(({ key }, i) => [String(key), i]));
  const state = new PartitionState({ topic: TOPICS.observations, partition: 0 }, 100);
  const readChangelog = (onRecord: (key: Buffer, value: Buffer | null) => void) => {
    let at = 0;
    return session.readChangelog((key, value) => {
      const isNewest = newest.get(String(key)) === at++;
      if ((isNewest || !isCompacted) && (knowsSettings || digestOfKey(key) === null)) onRecord(key, value);
    });
  };
  await restorePartition({ ...session, readChangelog }, state, detectors);
  await session.close();
  return state;
}

/** Contexts and residuals that forecasts and thresholds are made of. */
function keptNumbers({ units }: PartitionState) {
  return Array.from(units.values()).flatMap((unit) =>
    unit.changelogSeries().map(({ key, detector }) => {
      const context = new Float32Array(detector.settings.context);
      detector.context(context, 0, context.length);
      const residuals = detector.rings.residuals(detector.residualCount);
      return [key, detector.positions, [...context], [...residuals], [...detector.rings.extremes()]] as const;
    }),
  );
}

test('a restore fills the same rings in one pass and in two, before and after the changelog was compacted', async () => {
  const run = await scored();
  const lookup = { detectorOf: () => loaded, detectorNamed: new Map([['every', loaded]]) };
  const inOnePass = keptNumbers(await restored(run, lookup));
  assert.deepEqual(
    inOnePass.map(([key, positions, context]) => [key, positions, context.some(Number.isNaN)]),
    SERIES.map((series) => [series, STEPS, false]),
  );
  assert.deepEqual(
    keptNumbers(await restored(run, { ...lookup, windowBudget: { bytes: 0, bytesMax: 1_000 } })),
    inOnePass,
  );
  assert.deepEqual(keptNumbers(await restored(run, lookup, { isCompacted: true })), inOnePass);
});

test('each key of a window is kept once with a state that cannot be continued, in one pass and in two', async () => {
  const run = await scored();
  const written = new Set(
    run.broker
      .read(TOPICS.changelog, 0)
      .map(({ key }) => String(key))
      .filter((key) => key.startsWith('w/')),
  );
  const lookup = { detectorOf: () => null, detectorNamed: new Map() };
  for (const bytesMax of [1e9, 1_000]) {
    const { outdated } = await restored(
      run,
      { ...lookup, windowBudget: { bytes: 0, bytesMax } },
      {
        knowsSettings: false,
      },
    );
    const keys = Array.from(outdated.values()).flatMap(({ windowKeys }) => windowKeys.map(String));
    assert.deepEqual(keys.sort(), [...written].sort());
    assert.ok(keys.every((key) => SERIES.includes(windowOfKey(Buffer.from(key)).series)));
  }
});

test('V8 has the flag that a restore sets, and it is off before', () => {
  const options = execFileSync(process.execPath, ['--v8-options']).toString();
  assert.match(options, new RegExp(`--${COUNTED_BUFFERS} .*\\s+type: bool +default: --no-${COUNTED_BUFFERS}`));
});
