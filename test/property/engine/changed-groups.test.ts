import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DetectorConfig, settingsDigest } from '../../../src/config/config.ts';
import type { StreamDetectionSettings } from '../../../src/detection/calibration/settings.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { fc } from '../../fixture/fast-check.ts';
import {
  detectorConfig,
  observationRecord,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../fixture/stream/stream-run.ts';
import { windowShapes } from '../../fixture/stream/window-shapes.ts';
import type { MemoryBroker } from '../../fixture/stream-log/memory-log.ts';

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

const judged = ({ input: _, restarted: __, ...score }: ScoreRecord) => score;

test('after a change of settings a group warms up again, reports that once, and loses no record that waited', async () => {
  let waited = 0;
  await fc.assert(
    fc.asyncProperty(settings, settings, rows, fc.integer({ min: 30, max: 80 }), async (one, other, all, changeAt) => {
      fc.pre(settingsDigest({ settings: one }) !== settingsDigest({ settings: other }));
      const [before, after] = [one, other].map((chosen) => detectorConfig({ group: 'group', settings: chosen }));
      const input = recordsOf(all.slice(0, changeAt), 0);
      const first = await runUnder(before, input);
      const [known, letters] = [first.scores(), first.deadLetters()];
      const done = new Set([...known, ...letters].map(({ input: { offset } }) => offset));
      const waiting = input.filter((_, offset) => !done.has(offset));
      waited += waiting.length;
      const rest = recordsOf(all.slice(changeAt), changeAt);
      const second = await runUnder(after, rest, first.broker);
      const fresh = await runUnder(after, [...waiting, ...rest]);
      const scores = second.scores().slice(known.length);
      assert.deepEqual(scores.map(judged), fresh.scores().map(judged));
      assert.equal(second.deadLetters().length, letters.length + fresh.deadLetters().length);
      for (const { restarted, position } of scores) assert.equal(restarted, position === 0);
    }),
    { numRuns: 20, endOnFailure: true },
  );
  assert.ok(waited > 0, 'no record waited');
});

test('a group of a renamed detector starts over, and nothing stays under the old name', async () => {
  const all = Array.from({ length: 90 }, (_, i) => MEMBERS.map((_, member) => ((i * 7 + member * 3) % 11) - 5));
  const chosen = streamSettings({ thresholdMethod: 'multivariate', context: 64, calibrationSize: 28 });
  const named = (name: string) => detectorConfig({ name, group: 'group', settings: chosen });
  const { broker } = await runUnder(named('before'), recordsOf(all.slice(0, 60), 0));
  const run = await runUnder(named('after'), recordsOf(all.slice(60), 60), broker);
  const scores = run.scores().filter(({ detector }) => detector === 'after');
  assert.deepEqual([scores.length, scores[0].position, scores[0].restarted], [90, 0, true]);
  const newest = new Map(broker.read(TOPICS.changelog, 0).map(({ key, value }) => [key!.toString(), value] as const));
  const left = [...newest].filter(([key, value]) => key.includes('/before\0') && value !== null);
  assert.deepEqual(left, []);
});
