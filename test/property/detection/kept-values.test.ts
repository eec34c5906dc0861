import assert from 'node:assert/strict';
import { detectOnline } from '../../../src/api/tasks/online-detection/online-detection-run.ts';
import type { StreamDetectionSettings } from '../../../src/detection/calibration/settings.ts';
import { fc } from '../../fixture/fast-check.ts';
import { arithmeticForecaster } from '../../fixture/models/arithmetic-forecaster.ts';
import { assertClose } from '../../fixture/stream/scored-stream.ts';
import { sparseSteps } from '../../fixture/stream/sparse-steps.ts';
import { detectorConfig, observationRecord, streamRun, streamSettings } from '../../fixture/stream/stream-run.ts';
import { windowShapes } from '../../fixture/stream/window-shapes.ts';
import type { MemoryBroker } from '../../fixture/stream-log/memory-log.ts';
import { virtualTest as test } from '../../fixture/virtual-time.ts';

const settings: fc.Arbitrary<StreamDetectionSettings> = fc
  .record({
    shape: windowShapes,
    all: fc.boolean(),
    context: fc.constantFrom(50, 58, 64),
  })
  .map(({ shape, all, context }) =>
    streamSettings({ ...shape, context, gapLimit: context, calibrationSize: all ? 'all' : 7 * shape.detectionSize }),
  );

const steps = sparseSteps({ missing: [0, 0, 0, 0, 0, 0, 1, 9], minLength: 90 });

async function runUnder(detection: StreamDetectionSettings, records: readonly unknown[][], broker?: MemoryBroker) {
  const run = streamRun({ detectors: [detectorConfig({ settings: detection })], ...(broker && { broker }) });
  const worker = await run.start();
  for (const [key, value] of records) run.broker.append(0, key as Buffer, value as Buffer);
  await run.settled();
  await worker.stop();
  return run;
}

test('after a change of settings a series scores as HTTP does the values it kept, as a history from position 0', async () => {
  let compared = 0;
  const moment = fc.integer({ min: 40, max: 80 });
  await fc.assert(
    fc.asyncProperty(settings, settings, steps, moment, async (before, after, arrivals, changeAt) => {
      fc.pre(JSON.stringify(before) !== JSON.stringify(after));
      const records = arrivals.map(({ step, value }) => Object.values(observationRecord('s', step, value)));
      const first = await runUnder(before, records.slice(0, changeAt));
      const second = await runUnder(after, records.slice(changeAt), first.broker);
      const scores = second.scores().slice(changeAt);
      assert.equal(scores.length, arrivals.length - changeAt, 'one score an observation');

      const newest = arrivals[changeAt - 1].step;
      const keptFrom = arrivals.find(({ step }) => step > newest - before.context)!.step;
      const history = new Array<number>(arrivals.at(-1)!.step + 1 - keptFrom).fill(Number.NaN);
      for (const { step, value } of arrivals) if (step >= keptFrom) history[step - keptFrom] = value;
      const positions = scores.map(({ position }) => position);
      const expected = arrivals.slice(changeAt).map(({ step }) => step - keptFrom);
      assert.deepEqual(positions, expected);
      const restarteds = scores.map(({ restarted }) => restarted);
      assert.deepEqual(
        restarteds,
        scores.map((_, i) => i === 0),
      );
      const { detectionSize } = after;
      for (let end = detectionSize; end <= history.length; end += detectionSize) {
        const [whole] = await detectOnline({
          series: [history.slice(0, end)],
          settings: after,
          forecaster: arithmeticForecaster(),
        });
        if (whole!.calibratedOn === 'whole-series') continue;
        for (const score of scores.filter(({ position }) => position >= end - detectionSize && position < end)) {
          compared++;
          const k = score.position - (end - detectionSize);
          const place = `position ${score.position}`;
          if (score.forecast !== null) assert.equal(score.state, 'scored', place);
          assertClose(score.anomalyScore, whole!.score[k], 1e-5, `score of ${place}`);
          assertClose(score.forecast, whole!.forecast[k], 1e-5, `forecast of ${place}`);
          assertClose(score.grade, whole!.grade[k], 1e-5, `grade of ${place}`);
          assert.equal(score.anomaly, whole!.anomaly[k], `flag of ${place}`);
        }
      }
    }),
    { numRuns: 20 },
  );
  assert.ok(compared > 0, `only ${compared} scores were compared`);
});
