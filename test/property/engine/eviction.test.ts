import assert from 'node:assert/strict';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { fc } from '../../fixture/fast-check.ts';
import { detectorConfig, observationRecord, streamRun, streamSettings } from '../../fixture/stream/stream-run.ts';
import { virtualTest as test } from '../../fixture/virtual-time.ts';

const SERIES = 30;
const BATCH_MAX = 8;
const detectors = [
  detectorConfig({
    settings: streamSettings({ h: 2, stepSize: 2, detectionSize: 2, calibrationSize: 14, gapLimit: 3 }),
  }),
];

/** Which series has its next observation, and what it is. */
const observed = fc.array(fc.record({ series: fc.nat(SERIES - 1), value: fc.integer({ min: -9, max: 9 }) }), {
  minLength: 600,
  maxLength: 900,
});

type Input = ReturnType<typeof observationRecord>;

/** Each worker but the last scores so many records, then makes way for the next. */
async function scoresOf(input: readonly Input[], seriesMax: number, scoredByWorker: number[]): Promise<ScoreRecord[]> {
  const run = streamRun({ detectors, limits: { seriesMax, commitRecordsMax: BATCH_MAX } });
  let sent = 0;
  for (const records of [...scoredByWorker, input.length]) {
    const worker = await run.start();
    for (const { key, value } of input.slice(sent, sent + records)) run.broker.append(0, key, value);
    sent += records;
    await run.settled();
    await worker.stop();
  }
  return run.scores();
}

test('beyond the limit of series, workers that take over evict the same ones as a single worker does', async () => {
  const workers = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 });
  const seriesMax = fc.integer({ min: SERIES - 2 * BATCH_MAX, max: SERIES - 2 });
  await fc.assert(
    fc.asyncProperty(observed, seriesMax, workers, async (arrivals, max, scoredByWorker) => {
      const steps = new Array<number>(SERIES).fill(0);
      const input = arrivals.map(({ series, value }) => observationRecord(`s${series}`, steps[series]++, value));
      const alone = await scoresOf(input, max, []);
      assert.deepEqual(await scoresOf(input, max, scoredByWorker), alone);
      assert.ok(
        alone.length > new Set(alone.map(({ series, position }) => `${series} ${position}`)).size,
        'none began anew',
      );
    }),
    { numRuns: 15 },
  );
});
