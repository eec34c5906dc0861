import { test } from 'node:test';
import type { StreamDetectionSettings } from '../../../src/detection/calibration/settings.ts';
import { fc } from '../../fixture/fast-check.ts';
import {
  assertSamePublished,
  disturbances,
  disturbancesWithChanges,
  disturbedRun,
  type Input,
  realTimes,
  replayedRun,
} from '../../fixture/stream/disturbed-run.ts';
import { detectorConfig, groupDetector, observationRecord, streamSettings } from '../../fixture/stream/stream-run.ts';
import { windowShapes } from '../../fixture/stream/window-shapes.ts';

const settings: fc.Arbitrary<StreamDetectionSettings> = fc
  .record({
    shape: windowShapes,
    context: fc.constantFrom(20, 50, 64),
    latenessMs: fc.constantFrom(0, 0, 300_000),
  })
  .map(({ shape, context, latenessMs }) =>
    streamSettings({
      ...shape,
      context,
      gapLimit: context,
      latenessMs,
      calibrationSize: 7 * shape.detectionSize,
      silenceAfter: 4,
    }),
  );

const detectorsOf = (chosen: StreamDetectionSettings, name = 'alone', groups = 'together') => [
  groupDetector(chosen, { name: groups, series: ['m*'] }),
  detectorConfig({ name, settings: chosen }),
];

/** Series that are scored alone, one of which is silent at times, and a group of two. */
const inputOf = (arrivals: readonly { readonly step: number; readonly value: number }[]): Input[] =>
  arrivals.flatMap(({ step, value }) => [
    observationRecord('a', step, value),
    observationRecord('m1', step, value, 'g'),
    observationRecord('m2', step, -value, 'g'),
    observationRecord('b', step, -value),
    ...(Math.floor(step / 25) % 2 === 0 ? [observationRecord('sometimes', step, value)] : []),
  ]);

test('a series scores after a change as if it had not waited for its backfill, however slow that is and whatever happens', async () => {
  const moment = fc.double({ min: 0.2, max: 0.8, noNaN: true });
  const pace = fc.constantFrom(150, 400, 2_000);
  await fc.assert(
    fc.asyncProperty(
      settings,
      settings,
      realTimes,
      moment,
      pace,
      disturbances,
      async (before, after, arrivals, at, perSecond, events) => {
        const input = inputOf(arrivals);
        const changeAt = Math.floor(at * input.length);
        const undisturbed = async (
          limits: { readonly backfillForecastsPerSMax?: number },
          disturbed: typeof events,
        ) => {
          const broker = await disturbedRun({ detectors: detectorsOf(before) }, input.slice(0, changeAt), []);
          const options = { detectors: detectorsOf(after), broker, limits: { ...limits, commitRecordsMax: 25 } };
          return disturbedRun(options, input.slice(changeAt), disturbed);
        };
        const expected = await undisturbed({}, []);
        assertSamePublished(await undisturbed({ backfillForecastsPerSMax: perSecond }, events), expected);
      },
    ),
    { numRuns: 15, endOnFailure: true },
  );
});

test('detectors that change in a disturbed run publish what an undisturbed one does that changes at the same offsets', async () => {
  await fc.assert(
    fc.asyncProperty(settings, settings, realTimes, disturbancesWithChanges, async (one, other, arrivals, events) => {
      const versions = [
        detectorsOf(one),
        detectorsOf(other),
        detectorsOf(other, 'renamed', 'renamed too'),
        detectorsOf(one),
      ];
      const input = inputOf(arrivals);
      const options = { limits: { commitRecordsMax: 25 } };
      const disturbed = await disturbedRun(options, input, events, versions);
      assertSamePublished(disturbed, await replayedRun({}, input, versions, disturbed));
    }),
    { numRuns: 15, endOnFailure: true },
  );
});
