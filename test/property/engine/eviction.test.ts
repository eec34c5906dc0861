import assert from 'node:assert/strict';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { fc } from '../../fixture/fast-check.ts';
import { detectorConfig, observationRecord, streamRun, streamSettings } from '../../fixture/stream/stream-run.ts';
import { virtualTest as test } from '../../fixture/virtual-time.ts';

const SERIES = 30;
/** Most records of a batch: so few that none waits for long, or enough for all series at once. */
const BATCHES = [3, 8, 100];
const detectors = [
  detectorConfig({
    settings: streamSettings({ h: 2, stepSize: 2, detectionSize: 2, calibrationSize: 14, gapLimit: 3 }),
  }),
];

/** Which series has its next observation, and what it is. */
function observed(series: fc.Arbitrary<number>) {
  const value = fc.integer({ min: -9, max: 9 });
  return fc.array(fc.record({ series, value }), { minLength: 600, maxLength: 900 });
}

const any = fc.nat(SERIES - 1);
/** All come in turn, and nearly all have room; or few come often enough to be scored, and just these have room. */
const crowded = fc.oneof(
  fc.tuple(observed(any), fc.integer({ min: SERIES - 16, max: SERIES - 2 })),
  fc.integer({ min: 1, max: 4 }).chain((few) => {
    const series = fc.oneof({ weight: 30, arbitrary: fc.nat(few) }, { weight: 1, arbitrary: any });
    return fc.tuple(observed(series), fc.constant(few + 1));
  }),
);

type Input = ReturnType<typeof observationRecord>;

/** Each worker but the last scores so many records, then makes way for the next. */
async function scoresOf(
  input: readonly Input[],
  limits: { seriesMax: number; commitRecordsMax: number },
  scoredByWorker: number[],
): Promise<ScoreRecord[]> {
  const run = streamRun({ detectors, limits });
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

test('beyond the limit of series, the same ones are evicted at any size of a batch, and by workers that take over', async () => {
  const workers = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 });
  const batch = fc.constantFrom(...BATCHES);
  await fc.assert(
    fc.asyncProperty(crowded, batch, workers, async ([arrivals, seriesMax], commitRecordsMax, scoredByWorker) => {
      const steps = new Array<number>(SERIES).fill(0);
      const input = arrivals.map(({ series, value }) => observationRecord(`s${series}`, steps[series]++, value));
      const alone = await scoresOf(input, { seriesMax, commitRecordsMax: 1 }, []);
      const inOrder = (scores: ScoreRecord[]) => scores.toSorted((a, b) => a.input.offset - b.input.offset);
      assert.deepEqual(inOrder(await scoresOf(input, { seriesMax, commitRecordsMax }, scoredByWorker)), inOrder(alone));
      assert.ok(
        alone.length > new Set(alone.map(({ series, position }) => `${series} ${position}`)).size,
        'none restarted',
      );
    }),
    { numRuns: 15, endOnFailure: true },
  );
});
