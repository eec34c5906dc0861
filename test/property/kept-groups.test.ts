import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type DetectorConfig, settingsDigest } from '../../src/config/config.ts';
import type { StreamDetectionSettings } from '../../src/detection/calibration/settings.ts';
import type { ScoreRecord } from '../../src/records/score-record.ts';
import type { MemoryBroker } from '../fixture/stream/memory-log.ts';
import { assertClose } from '../fixture/stream/scored-stream.ts';
import { detectorConfig, observationRecord, streamRun, streamSettings, TOPICS } from '../fixture/stream/stream-run.ts';
import { windowShapes } from '../fixture/stream/window-shapes.ts';

const MEMBERS = ['m0', 'm1', 'm2'];

const settings: fc.Arbitrary<StreamDetectionSettings> = fc
  .record({
    shape: windowShapes,
    grace: fc.constantFrom(1, 2),
    gapLimit: fc.constantFrom(10, 64),
  })
  .map(({ shape, ...rest }) =>
    streamSettings({
      ...shape,
      ...rest,
      context: 64,
      calibrationSize: 7 * shape.detectionSize,
      thresholdMethod: 'multivariate',
    }),
  );

/**
 * Of each step the values of its members; null where a member has none. The second is nearly always there. The
 * first goes away and returns before the others of its step, which wait for it then.
 */
const rows = fc
  .record({
    values: fc.array(fc.tuple(...MEMBERS.map(() => fc.integer({ min: -50, max: 60 }))), {
      minLength: 90,
      maxLength: 130,
    }),
    /** Where the first member begins to be missing for longer than a gap limit. */
    away: fc.integer({ min: 5, max: 70 }),
  })
  .map(({ values, away }) =>
    values.map((row, step) =>
      row.map((value, member) => {
        if (member === 1) return step % 17 === 16 ? null : value;
        return value > 50 || (member === 0 && step >= away && step < away + 14) ? null : value;
      }),
    ),
  );

type Rows = readonly (readonly (number | null)[])[];

const recordsOf = (some: Rows, first: number) =>
  some.flatMap((row, i) =>
    MEMBERS.flatMap((series, member) => {
      const value = row[member];
      return value === null ? [] : [observationRecord(series, first + i, value, 'g')];
    }),
  );

async function runUnder(detector: DetectorConfig, records: ReturnType<typeof recordsOf>, broker?: MemoryBroker) {
  const run = streamRun({ detectors: [detector], ...(broker && { broker }) });
  for (const { key, value } of records) run.broker.append(0, key, value);
  await run.scoreAll();
  return run;
}

const NUMBERS = ['forecast', 'anomalyScore', 'accumulatedAnomalyScore', 'grade', 'severity'] as const;

/** Sums over members may be taken in another order. */
function assertSameScore(actual: ScoreRecord, expected: ScoreRecord): void {
  const place = `${expected.series} at ${expected.position}`;
  const judged = ({ series, timestampMs, position, state, anomaly, alarm }: ScoreRecord) => ({
    series,
    timestampMs,
    position,
    state,
    anomaly,
    alarm,
  });
  assert.deepEqual(judged(actual), judged(expected), place);
  for (const name of NUMBERS) assertClose(actual[name], expected[name], 1e-9, `${name} of ${place}`);
}

/** Without the values of members from before they left the group for a while. */
function withoutLeavers(all: Rows, scoredSteps: number, { gapLimit }: StreamDetectionSettings): Rows {
  const joined = MEMBERS.map((_, member) => {
    let [newest, since] = [0, 0];
    for (let step = 0; step < scoredSteps; step++) {
      if (step - newest - 1 > gapLimit) since = step;
      if (all[step][member] !== null) newest = step;
    }
    return since;
  });
  return all.map((row, step) => row.map((value, member) => (step < joined[member] ? null : value)));
}

/**
 * The group scores after a change what a fresh group does that was fed with the values which it kept, and with the
 * steps that waited.
 */
async function assertContinues(before: DetectorConfig, after: DetectorConfig, all: Rows, changeAt: number) {
  const first = await runUnder(before, recordsOf(all.slice(0, changeAt), 0));
  // What was late under the settings before is not among the values that were kept.
  fc.pre(first.deadLetters().length === 0);
  const known = first.scores();
  const second = await runUnder(after, recordsOf(all.slice(changeAt), changeAt), first.broker);
  const scores = second.scores().slice(known.length);
  const scoredSteps = Math.max(-1, ...known.map(({ position }) => position)) + 1;
  const left = withoutLeavers(all, scoredSteps, before.settings);
  const kept = left.findIndex(
    (row, i) => i >= scoredSteps - before.settings.context && row.some((value) => value !== null),
  );
  // The step in which a new member comes is complete without it, and its first value late, unless it comes first.
  fc.pre(left[kept].slice(1).every((value) => value !== null));
  const fresh = await runUnder(after, recordsOf(left.slice(kept), kept));
  const expected = fresh.scores().slice(-scores.length);
  scores.forEach((score, i) => void assertSameScore(score, expected[i]));
  const firstStep = scores[0]?.timestampMs;
  for (const { restarted, timestampMs } of scores) assert.equal(restarted, timestampMs === firstStep);
  return { known, scores, broker: first.broker };
}

test('after a change of settings a group scores as a fresh one does that was fed with the values it kept', async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(settings, settings, rows, fc.integer({ min: 30, max: 80 }), async (one, other, all, changeAt) => {
      // Neither leaves a member out that the other keeps.
      const after = { ...other, gapLimit: one.gapLimit };
      fc.pre(settingsDigest({ settings: one }) !== settingsDigest({ settings: after }));
      const detectors = [one, after].map((chosen) => detectorConfig({ group: 'group', settings: chosen }));
      const { scores } = await assertContinues(detectors[0], detectors[1], all, changeAt);
      compared += scores.filter(({ accumulatedAnomalyScore }) => accumulatedAnomalyScore !== null).length;
    }),
    { numRuns: 20, endOnFailure: true },
  );
  assert.ok(compared > 0, `only ${compared} scores were compared`);
});

test('the groups of a renamed detector keep their values, and nothing stays under the old name', async () => {
  const all = Array.from({ length: 90 }, (_, i) => MEMBERS.map((_, member) => ((i * 7 + member * 3) % 11) - 5));
  const chosen = streamSettings({ thresholdMethod: 'multivariate', context: 64, calibrationSize: 28 });
  const named = (name: string) => detectorConfig({ name, group: 'group', settings: chosen });
  const { scores, broker } = await assertContinues(named('before'), named('after'), all, 60);
  assert.ok(scores.every(({ detector, state }) => detector === 'after' && state === 'scored'));
  const newest = new Map(broker.read(TOPICS.changelog, 0).map(({ key, value }) => [key!.toString(), value] as const));
  const left = [...newest].filter(([key, value]) => key.includes('/before\0') && value !== null);
  assert.deepEqual(left, []);
});

test('time steps that wait as the settings change are scored after it', async () => {
  const chosen = streamSettings({ thresholdMethod: 'multivariate', context: 64, calibrationSize: 28, grace: 2 });
  const before = detectorConfig({ group: 'group', settings: chosen });
  const after = detectorConfig({ group: 'group', settings: { ...chosen, calibrationSize: 36 } });
  const all: Rows = Array.from({ length: 70 }, (_, i) => [i % 5, i % 3, i === 59 ? null : i % 7]);
  const { known, scores } = await assertContinues(before, after, all, 60);
  assert.ok(known.every(({ position }) => position < 59));
  assert.deepEqual(
    scores.filter(({ position }) => position === 59).map(({ series }) => series),
    ['m0', 'm1'],
  );
});
