import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectOnline } from '../../../../src/api/tasks/online-detection/online-detection-run.ts';
import { noiseAt } from '../../../../src/demo/hash-noise.ts';
import { SeriesMemory, seriesLayout } from '../../../../src/detection/memory/series-memory.ts';
import { GroupDetector } from '../../../../src/detection/series/group-detector.ts';
import { arithmeticQuantileForecaster } from '../../../fixture/models/arithmetic-forecaster.ts';
import { supplyForecast } from '../../../fixture/stream/stream-detection.ts';
import {
  detectorConfig,
  observationRecord,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../../fixture/stream/stream-run.ts';
import { MemoryBroker } from '../../../fixture/stream-log/memory-log.ts';

/** The context is long enough for the grade to compare shapes. */
const settings = streamSettings({
  h: 6,
  detectionSize: 6,
  stepSize: 2,
  context: 80,
  calibrationSize: 60,
  thresholdMethod: 'multivariate',
  gapLimit: 30,
});
const forecaster = () => arithmeticQuantileForecaster({ context: 128, contextBuckets: [32, 64, 128] });
const valueAt = (member: number, step: number) => 20 + noiseAt(member, step);

test('a member that joins late has the grades of one whose earlier values were missing', async () => {
  const [joined, steps] = [113, 210];
  const group = new GroupDetector(settings, new SeriesMemory(seriesLayout(settings)));
  group.addMember();
  const grades: number[] = [];
  for (let step = 0; step < steps; step++) {
    for (const member of group.members) await supplyForecast(member, forecaster());
    if (step === joined) {
      const member = group.addMember();
      await supplyForecast(member, forecaster());
    }
    grades.push(group.score(group.members.map((_, member) => valueAt(member, step))).grade);
  }
  for (let n = 120; n <= steps; n += settings.detectionSize) {
    const series = [0, 1].map((member) =>
      Array.from({ length: n }, (_, step) => (member === 1 && step < joined ? Number.NaN : valueAt(member, step))),
    );
    const [whole] = await detectOnline({ series, settings, forecaster: forecaster() });
    whole!.grade.forEach((grade, k) => {
      const step = n - settings.detectionSize + k;
      assert.ok(Math.abs(grade - grades[step]) < 1e-6, `step ${step}: ${grade} is not ${grades[step]}`);
    });
  }
});

test('a restart changes no score of a group whose member left and returned', async () => {
  const detector = detectorConfig({ group: 'group', settings });
  const records = Array.from({ length: 300 }, (_, step) =>
    [0, 1]
      .filter((member) => member === 1 || step < 116 || step >= 161)
      .map((member) => observationRecord(`m${member}`, step, valueAt(member, step), 'rack')),
  );
  async function scoresOf(steps: number) {
    const run = streamRun({ detectors: [detector], broker: new MemoryBroker(TOPICS, 1), forecaster: forecaster() });
    for (let start = 0; start < records.length; start += steps) {
      for (const { key, value } of records.slice(start, start + steps).flat()) run.broker.append(0, key, value);
      await run.scoreAll();
    }
    return run.scores();
  }
  const uninterrupted = await scoresOf(records.length);
  assert.deepEqual(await scoresOf(11), uninterrupted);
});
