import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectOnline } from '../../../src/api/tasks/online-detection/online-detection-run.ts';
import type { StreamDetectionSettings } from '../../../src/detection/calibration/settings.ts';
import { fc } from '../../fixture/fast-check.ts';
import { arithmeticForecaster } from '../../fixture/models/arithmetic-forecaster.ts';
import {
  assertSamePublished,
  disturbedRun,
  disturbances as events,
  realTimes,
  scoresOf,
} from '../../fixture/stream/disturbed-run.ts';
import { assertClose } from '../../fixture/stream/scored-stream.ts';
import { sparseSteps } from '../../fixture/stream/sparse-steps.ts';
import { detectorConfig, observationRecord, STEP_MS, streamSettings } from '../../fixture/stream/stream-run.ts';
import { windowShapes } from '../../fixture/stream/window-shapes.ts';

const settings: fc.Arbitrary<StreamDetectionSettings> = fc
  .record({ shape: windowShapes, calibrateOnAll: fc.boolean(), context: fc.constantFrom(16, 20, 64) })
  .map(({ shape, calibrateOnAll, context }) =>
    streamSettings({ ...shape, context, calibrationSize: calibrateOnAll ? 'all' : 7 * shape.detectionSize }),
  );

/** Id of a series whose windows begin where its id decides; null: with the series. */
const spreads = fc.option(fc.constantFrom('s', 't', 'u', 'v', 'w', 'x'));

/** Gaps stay below the limit. */
const steps = sparseSteps({ missing: [0, 0, 0, 0, 0, 0, 1, 3], minLength: 60 });

test('the scores published for a closed window equal online detection over the same history, whatever happens to the run', async () => {
  await fc.assert(
    fc.asyncProperty(settings, steps, events, spreads, async (detection, arrivals, disturbances, spread) => {
      const forecaster = arithmeticForecaster();
      const options = {
        detectors: [detectorConfig({ settings: detection, isSpread: spread !== null })],
        forecaster,
        limits: { commitRecordsMax: 25 },
      };
      const input = arrivals.map(({ step, value }) => observationRecord(spread ?? 's', step, value));
      const scores = scoresOf(await disturbedRun(options, input, disturbances));
      assert.equal(scores.length, arrivals.length, 'one score an observation');

      const history = new Array<number>(arrivals.at(-1)!.step + 1).fill(Number.NaN);
      for (const { step, value } of arrivals) history[step] = value;
      const { detectionSize } = detection;
      assert.ok(scores.every(({ window, position }) => window.start <= position && position < window.end));
      for (let { end } = scores[0].window; end <= history.length; end += detectionSize) {
        const [expected] = await detectOnline({ series: [history.slice(0, end)], settings: detection, forecaster });
        if (expected!.calibratedOn === 'whole-series') continue;
        for (const score of scores.filter(({ position }) => position >= end - detectionSize && position < end)) {
          const k = score.position - (end - detectionSize);
          assertClose(score.anomalyScore, expected!.score[k], 1e-6, `score of position ${score.position}`);
          assertClose(score.forecast, expected!.forecast[k], 1e-6, `forecast of position ${score.position}`);
          assert.equal(score.anomaly, expected!.anomaly[k], `flag of position ${score.position}`);
        }
      }
    }),
    { numRuns: 20, endOnFailure: true },
  );
});

test('an outage of any length below the context is missing values: the scores around it equal online detection', async () => {
  const outage = fc.integer({ min: 1, max: 60 });
  await fc.assert(
    fc.asyncProperty(
      settings,
      outage,
      fc.integer({ min: 64, max: 90 }),
      events,
      spreads,
      async (chosen, gap, at, disturbances, spread) => {
        const calibrationSize = chosen.calibrationSize === 'all' ? 'all' : 12 * chosen.detectionSize;
        const detection: StreamDetectionSettings = { ...chosen, context: 64, gapLimit: 64, calibrationSize };
        const forecaster = arithmeticForecaster();
        const arrivals = Array.from({ length: 140 }, (_, i) => ({
          step: i < at ? i : i + gap,
          value: (i * 7_919) % 101,
        }));
        const options = { detectors: [detectorConfig({ settings: detection, isSpread: spread !== null })], forecaster };
        const input = arrivals.map(({ step, value }) => observationRecord(spread ?? 's', step, value));
        const scores = scoresOf(await disturbedRun(options, input, disturbances));
        assert.equal(scores.length, arrivals.length, 'one score an observation');
        const history = new Array<number>(arrivals.at(-1)!.step + 1).fill(Number.NaN);
        for (const { step, value } of arrivals) history[step] = value;
        const after = scores.filter(({ position, forecast }) => position >= at && forecast !== null);
        assert.ok(
          after.every(({ state }) => state === 'scored'),
          'judged from the first forecast on',
        );
        for (let { end } = scores[0].window; end <= history.length; end += detection.detectionSize) {
          const [whole] = await detectOnline({ series: [history.slice(0, end)], settings: detection, forecaster });
          if (whole!.calibratedOn === 'whole-series') continue;
          for (const score of scores.filter(
            ({ position }) => position < end && position >= end - detection.detectionSize,
          )) {
            const k = score.position - (end - detection.detectionSize);
            assertClose(score.anomalyScore, whole!.score[k], 1e-6, `score of position ${score.position}`);
            assertClose(score.grade, whole!.grade[k], 1e-6, `grade of position ${score.position}`);
            assert.equal(score.anomaly, whole!.anomaly[k], `flag of position ${score.position}`);
          }
        }
      },
    ),
    { numRuns: 12, endOnFailure: true },
  );
});

test('a disturbed run publishes byte for byte what an undisturbed one does, each record once', async () => {
  const limits = fc.record({
    latenessMs: fc.constantFrom(0, 0, 300_000),
    // `sometimes` is gone for longer than the second.
    idleMs: fc.constantFrom(null, 20 * STEP_MS),
  });
  await fc.assert(
    fc.asyncProperty(settings, realTimes, events, limits, async (chosen, arrivals, disturbances, chosenLimits) => {
      const detection = { ...chosen, gapLimit: chosen.context, silenceAfter: 4, ...chosenLimits };
      const detectors = [detectorConfig({ settings: detection, isSpread: true })];
      const options = { detectors, limits: { commitRecordsMax: 25 } };
      const input = arrivals.flatMap(({ step, value }) => [
        observationRecord('a', step, value),
        observationRecord('b', step, -value),
        ...(Math.floor(step / 25) % 2 === 0 ? [observationRecord('sometimes', step, value)] : []),
      ]);
      const undisturbed = await disturbedRun(options, input, []);
      const disturbed = await disturbedRun(options, input, disturbances);
      assertSamePublished(disturbed, undisturbed);
    }),
    { numRuns: 20, endOnFailure: true },
  );
});

test('a disturbed run of a group publishes what an undisturbed one does', async () => {
  const detection = fc.constant(
    streamSettings({ thresholdMethod: 'multivariate', calibrationSize: 28, gapLimit: 4, silenceAfter: 2 }),
  );
  const members = fc.array(
    fc.record({
      late: fc.integer({ min: 0, max: 2 }),
      absent: fc.constantFrom(0, 0, 0, 0, 0, 1),
      value: fc.integer({ min: -9, max: 9 }),
    }),
    { minLength: 200, maxLength: 300 },
  );
  await fc.assert(
    fc.asyncProperty(detection, members, events, async (groupSettings, arrivals, disturbances) => {
      const detectors = [detectorConfig({ group: 'group', settings: groupSettings, isSpread: true })];
      const input = arrivals
        .map(({ late, absent, value }, i) => ({
          at: Math.floor(i / 3) + late / 2,
          absent,
          series: `m${i % 3}`,
          step: Math.floor(i / 3),
          value,
        }))
        .filter(({ absent }) => absent === 0)
        .sort((a, b) => a.at - b.at)
        .map(({ series, step, value }) => observationRecord(series, step, value, 'g'));
      const undisturbed = await disturbedRun({ detectors }, input, []);
      const disturbed = await disturbedRun({ detectors, limits: { commitRecordsMax: 17 } }, input, disturbances);
      assertSamePublished(disturbed, undisturbed);
      assert.ok(scoresOf(disturbed).some(({ accumulatedAnomalyScore }) => accumulatedAnomalyScore !== null));
    }),
    { numRuns: 12, endOnFailure: true },
  );
});
