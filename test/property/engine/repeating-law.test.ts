import assert from 'node:assert/strict';
import test from 'node:test';
import { detectOnline } from '../../../src/api/tasks/online-detection/online-detection-run.ts';
import type { DetectionSettings } from '../../../src/detection/calibration/settings.ts';
import { fc } from '../../fixture/fast-check.ts';
import { arithmeticQuantileForecaster } from '../../fixture/models/arithmetic-forecaster.ts';
import { assertClose } from '../../fixture/stream/scored-stream.ts';
import { detectSeries } from '../../fixture/stream/stream-detection.ts';

const SETTINGS: DetectionSettings = {
  stepSize: 4,
  detectionSize: 8,
  h: 8,
  level: 99,
  thresholdMethod: 'univariate',
  calibration: 'robust',
  alarmRate: 0.01,
  calibrationSize: 64,
  context: 256,
};
const ROWS = 400;
const forecaster = () => arithmeticQuantileForecaster({ context: 256, contextBuckets: [64, 256] });

/** A series around a level that repeats values: it is flat but for a few rows, or one of its values stays. */
const repeating = fc
  .record({
    level: fc.constantFrom(3, 1_000, -5e6),
    isFlat: fc.boolean(),
    noise: fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: ROWS, maxLength: ROWS }),
    from: fc.integer({ min: 220, max: 300 }),
    rows: fc.integer({ min: 1, max: 40 }),
    jump: fc.constantFrom(0.01, 1, 100),
  })
  .map(({ level, isFlat, noise, from, rows, jump }) =>
    noise.map((distance, row) => {
      const isHeld = row >= from && row < from + rows;
      if (isFlat) return isHeld ? level + jump : level;
      return level + (isHeld ? noise[from] : distance);
    }),
  );

test('series that repeat values have the grades and alarms of online detection over the same history', async () => {
  let [stuck, graded] = [0, 0];
  await fc.assert(
    fc.asyncProperty(repeating, async (values) => {
      const detections = await detectSeries(values, SETTINGS, forecaster());
      for (const n of [296, 344, ROWS]) {
        const request = { series: [values.slice(0, n)], settings: SETTINGS, forecaster: forecaster() };
        const [whole] = await detectOnline(request);
        detections.slice(n - SETTINGS.detectionSize, n).forEach(({ grade, alarm, position }, k) => {
          assertClose(grade, whole!.grade[k], 1e-6, `grade at ${position} of ${n}`);
          assert.equal(alarm, whole!.alarm[k], `alarm at ${position} of ${n}`);
          if (grade > 0) graded++;
        });
      }
      if (detections.some(({ alarm, grade }) => alarm && grade < 0.3)) stuck++;
    }),
    { numRuns: 60 },
  );
  assert.ok(stuck > 0 && graded > 0, `${stuck} series were stuck`);
});
