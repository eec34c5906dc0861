import assert from 'node:assert/strict';
import type { WarmObservation } from '../../../src/engine/warm-start.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { fc } from '../../fixture/fast-check.ts';
import {
  detectorConfig,
  groupDetector,
  observationRecord,
  START_MS,
  STEP_MS,
  type StreamRunOptions,
  streamRun,
  streamSettings,
} from '../../fixture/stream/stream-run.ts';
import { windowShapes } from '../../fixture/stream/window-shapes.ts';
import { virtualTest as test } from '../../fixture/virtual-time.ts';

const SERIES = ['a', 'b', 'm1', 'm2', 'm3'];
const groupOf = (series: string) => (series.startsWith('m') ? 'g' : undefined);

/** Steps without an observation. */
const SILENCE_AFTER = 4;

function detectorsOf(shape: { h: number; stepSize: number; detectionSize: number }) {
  const common = { ...shape, context: 32, gapLimit: 40, calibrationSize: 7 * shape.detectionSize };
  return [
    groupDetector(common, { name: 'grouped', series: ['m*'] }),
    detectorConfig({ settings: streamSettings({ ...common, silenceAfter: SILENCE_AFTER }) }),
  ];
}

/** Of each step, the value of every series; some steps miss some. */
const steps = fc.array(
  fc.record({ value: fc.integer({ min: -50, max: 50 }), absent: fc.constantFrom(-1, -1, -1, -1, 0, 1) }),
  { minLength: 90, maxLength: 140 },
);

interface Row {
  readonly series: string;
  readonly step: number;
  readonly value: number;
}

const recordOf = ({ series, step, value }: Row) => observationRecord(series, step, value, groupOf(series));
const pastOf = ({ series, step, value }: Row): WarmObservation => ({
  series,
  group: groupOf(series) ?? null,
  timestampMs: START_MS + step * STEP_MS,
  value,
});

/** What a score says, without its place in the input. */
function comparable({ input: _, ...score }: ScoreRecord) {
  return score;
}

function bySeries(scores: readonly ScoreRecord[]) {
  return scores
    .map(comparable)
    .sort((a, b) => a.timestampMs - b.timestampMs || (a.series < b.series ? -1 : 1) || (a.state < b.state ? -1 : 1));
}

async function scoresOf(
  options: StreamRunOptions,
  rows: readonly Row[],
  past: readonly WarmObservation[],
  kills: number[],
) {
  const run = streamRun(options);
  const warmStart = { source: 'history', observationsOf: () => past };
  let sent = 0;
  for (const count of [...kills, rows.length]) {
    const worker = await run.start(past.length === 0 ? {} : { warmStart });
    for (const row of rows.slice(sent, sent + count)) {
      const { key, value } = recordOf(row);
      run.broker.append(0, key, value);
    }
    sent += count;
    // Some are killed while they fill the partition.
    if (count > 0) await run.settled();
    await worker.stop();
  }
  return run.scores();
}

test('a worker that begins with a history scores as one that has scored the history, whatever happens to it', async () => {
  const kills = fc.array(fc.constantFrom(0, 0, 5, 40), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(
      windowShapes,
      steps,
      fc.double({ min: 0.2, max: 0.9, noNaN: true }),
      kills,
      async (shape, drawn, share, killed) => {
        const rows = drawn.flatMap(({ value, absent }, step) =>
          SERIES.filter((_, i) => i !== absent).map((series, i) => ({
            series,
            step,
            value: value + i * Math.sin(step),
          })),
        );
        const begin = Math.floor(drawn.length * share);
        const [past, live] = [rows.filter(({ step }) => step < begin), rows.filter(({ step }) => step >= begin)];
        const options = { detectors: detectorsOf(shape), limits: { commitRecordsMax: 25 } };
        const whole = await scoresOf(options, rows, [], []);
        const warm = await scoresOf(options, live, past.map(pastOf), killed);
        const expected = whole.filter(({ timestampMs }) => timestampMs >= START_MS + begin * STEP_MS);
        // A silence that began in the history is reported by the live run, since a history publishes nothing.
        const isOfBoth = ({ state, timestampMs }: (typeof whole)[number]) =>
          state !== 'silent' || timestampMs > START_MS + (begin + SILENCE_AFTER) * STEP_MS;
        assert.deepEqual(bySeries(warm.filter(isOfBoth)), bySeries(expected.filter(isOfBoth)));
      },
    ),
    { numRuns: 12, endOnFailure: true },
  );
});
