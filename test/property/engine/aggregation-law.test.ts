import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AGGREGATES,
  type Aggregate,
  COUNTER_READINGS,
  type CounterReading,
} from '../../../src/detection/calibration/points.ts';
import type { StreamDetectionSettings } from '../../../src/detection/calibration/settings.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { fc } from '../../fixture/fast-check.ts';
import { disturbances as disturbanceLists, disturbedRun, scoresOf } from '../../fixture/stream/disturbed-run.ts';
import { assertClose } from '../../fixture/stream/scored-stream.ts';
import { detectorConfig, START_MS, STEP_MS, streamSettings } from '../../fixture/stream/stream-run.ts';

interface Point {
  readonly series: string;
  readonly timestampMs: number;
  readonly value: number;
  /** When it arrives, as an event time. */
  readonly dueMs: number;
}

const SERIES = ['a', 'b', 'c'];
/** So many steps after the last point that is compared, every series still sends. */
const TAIL = 4;
const STEPS = 60;

/** Points of a step: places in it and values; none where the series pauses. */
const pointsOfStep = fc.uniqueArray(
  fc.record({
    at: fc.integer({ min: 0, max: STEP_MS - 1 }),
    value: fc.integer({ min: 0, max: 100 }),
    delay: fc.nat(100),
  }),
  { maxLength: 6, selector: ({ at }) => at },
);

function arrivals(
  drawn: readonly (readonly { at: number; value: number; delay: number }[])[],
  latenessMs: number,
): Point[] {
  const points = drawn.flatMap((step, i) => {
    const series = SERIES[i % SERIES.length];
    const startMs = START_MS + Math.floor(i / SERIES.length) * STEP_MS;
    return step.map(({ at, value, delay }): Point => {
      const timestampMs = startMs + at;
      return { series, timestampMs, value, dueMs: timestampMs + Math.floor((delay / 100) * latenessMs) };
    });
  });
  const tail = SERIES.flatMap((series) =>
    Array.from({ length: TAIL }, (_, i): Point => {
      const timestampMs = START_MS + (STEPS + i) * STEP_MS;
      return { series, timestampMs, value: 7, dueMs: timestampMs };
    }),
  );
  // A group begins with the first step that closes, which has all members and two values of each counter.
  const head = SERIES.flatMap((series) =>
    [10_000, 20_000].map((at): Point => {
      const timestampMs = START_MS - STEP_MS + at;
      return { series, timestampMs, value: at / 1_000, dueMs: timestampMs };
    }),
  );
  return [...head, ...points, ...tail].sort((a, b) => a.dueMs - b.dueMs);
}

type Sent = Omit<Point, 'dueMs'>;

/** @param isChange whether the value is the change of a counter within a second */
function record({ series, timestampMs, value }: Sent, group: string | null, isChange = false) {
  const change = { start: timestampMs - 1_000, temporality: 'delta' };
  const observation = {
    series,
    timestamp: timestampMs,
    value,
    ...(group !== null && { group }),
    ...(isChange && change),
  };
  return { key: Buffer.from(group ?? series), value: Buffer.from(JSON.stringify(observation)) };
}

/** The definition, in as few words as it takes. */
function aggregated(aggregate: Aggregate, values: readonly number[], weights: readonly number[] | null): number {
  const sorted = values.toSorted((a, b) => a - b);
  const sum = (some: readonly number[]) => some.reduce((total, one) => total + one, 0);
  const quantile = (q: number) => {
    const rank = q * (sorted.length - 1);
    const [low, high] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
    return low * (1 - (rank - Math.floor(rank))) + high * (rank - Math.floor(rank));
  };
  const by: Record<Aggregate, () => number> = {
    mean: () =>
      weights === null ? sum(values) / values.length : sum(values.map((value, i) => value * weights[i])) / sum(weights),
    sum: () => sum(values),
    min: () => Math.min(...values),
    max: () => Math.max(...values),
    last: () => values.at(-1)!,
    count: () => values.length,
    p50: () => quantile(0.5),
    p95: () => quantile(0.95),
  };
  return by[aggregate]();
}

interface Beforehand {
  readonly series: string;
  readonly timestampMs: number;
  readonly value: number;
}

/** One value a series and step, of what was sent. */
function beforehand(points: readonly Point[], { aggregate, as, gapLimit }: StreamDetectionSettings): Beforehand[] {
  const found: Beforehand[] = [];
  for (const [series, own] of Map.groupBy(points, ({ series }) => series)) {
    let before: Point | null = null;
    const inTime = own.toSorted((a, b) => a.timestampMs - b.timestampMs);
    for (const [step, some] of Map.groupBy(inTime, ({ timestampMs }) => Math.floor(timestampMs / STEP_MS))) {
      const values: number[] = [];
      const seconds: number[] = [];
      for (const point of some) {
        const apartMs: number = before === null ? Number.NaN : point.timestampMs - before.timestampMs;
        const increase = before === null || point.value < before.value ? point.value : point.value - before.value;
        before = point;
        if (as !== undefined && !(apartMs <= (as === 'increase' ? 1.5 : gapLimit + 1) * STEP_MS)) continue;
        values.push(as === undefined ? point.value : as === 'rate' ? increase / (apartMs / 1_000) : increase);
        seconds.push(apartMs / 1_000);
      }
      if (values.length === 0) continue;
      found.push({
        series,
        timestampMs: step * STEP_MS,
        value: aggregated(aggregate!, values, as === 'rate' ? seconds : null),
      });
    }
  }
  return found.sort((a, b) => a.timestampMs - b.timestampMs);
}

/** Scores values as they are. Those of counters are bounded at 0, and so are changes that are sent as such. */
function plainSettings({ aggregate: _, as, ...plain }: StreamDetectionSettings): StreamDetectionSettings {
  return { ...plain, latenessMs: 0, ...(as !== undefined && { as, aggregate: 'last' as const }) };
}

/** Scores by series and time, without their places. */
function bySeries(scores: readonly ScoreRecord[]) {
  const lastMs = START_MS + STEPS * STEP_MS;
  return scores
    .filter(({ timestampMs }) => timestampMs < lastMs)
    .map(({ input: _, ...score }) => score)
    .sort((a, b) => (a.series === b.series ? a.timestampMs - b.timestampMs : a.series < b.series ? -1 : 1));
}

const chosen = fc.record({
  aggregate: fc.constantFrom(...AGGREGATES),
  as: fc.constantFrom(undefined, undefined, ...COUNTER_READINGS),
  latenessMs: fc.constantFrom(0, 20_000, STEP_MS, 3 * STEP_MS),
});
const steps = fc.array(pointsOfStep, { minLength: STEPS * SERIES.length, maxLength: STEPS * SERIES.length });

interface Chosen {
  readonly aggregate: Aggregate;
  readonly as: CounterReading | undefined;
  readonly latenessMs: number;
}

function settingsOf({ as, ...own }: Chosen, detectionSize: number) {
  const given = { ...own, ...(as !== undefined && own.aggregate !== 'count' && { as }) };
  return streamSettings({ context: 16, detectionSize, calibrationSize: 7 * detectionSize, gapLimit: 8, ...given });
}

test('a stream is scored as one of the values that its points come to beforehand, whatever happens to the run', async () => {
  await fc.assert(
    fc.asyncProperty(steps, chosen, disturbanceLists, async (drawn, given, disturbances) => {
      const settings = settingsOf(given, 3);
      const points = arrivals(drawn, settings.latenessMs);
      const limits = { commitRecordsMax: 40 };
      const input = points.map((point) => record(point, null));
      const broker = await disturbedRun({ detectors: [detectorConfig({ settings })], limits }, input, disturbances);
      const expected = await disturbedRun(
        { detectors: [detectorConfig({ settings: plainSettings(settings) })], limits },
        beforehand(points, settings).map((one) => record(one, null, settings.as !== undefined)),
        [],
      );
      assert.deepEqual(bySeries(scoresOf(broker)), bySeries(scoresOf(expected)));
      for (const { series, timestampMs, input: place } of scoresOf(broker)) {
        const last = points.findLastIndex(
          (point) => point.series === series && Math.floor(point.timestampMs / STEP_MS) * STEP_MS === timestampMs,
        );
        assert.equal(place.offset, last, 'the place is that of the last point of the step');
      }
    }),
    { numRuns: 12, endOnFailure: true },
  );
});

test('a group is scored as one of the values that the points of its members come to beforehand', async () => {
  await fc.assert(
    fc.asyncProperty(steps, chosen, disturbanceLists, async (drawn, given, disturbances) => {
      const settings = { ...settingsOf(given, 3), thresholdMethod: 'multivariate' as const };
      const lateness = { latenessMs: Math.min(settings.latenessMs, 20_000) };
      // Which steps wait for a member that pauses depends on the order in which values arrive.
      const dense = drawn.map((step) => (step.length === 0 ? [{ at: 30_000, value: 50, delay: 0 }] : step));
      const points = arrivals(dense, lateness.latenessMs);
      const limits = { commitRecordsMax: 40 };
      const run = (
        own: StreamDetectionSettings,
        input: Parameters<typeof disturbedRun>[1],
        what: typeof disturbances,
      ) => disturbedRun({ detectors: [detectorConfig({ group: 'group', settings: own })], limits }, input, what);
      const sent = points.map((point) => record(point, 'g'));
      const broker = await run({ ...settings, ...lateness }, sent, disturbances);
      const values = beforehand(points, settings).map((one) => record(one, 'g', settings.as !== undefined));
      const expected = await run(plainSettings(settings), values, []);
      const [scores, others] = [bySeries(scoresOf(broker)), bySeries(scoresOf(expected))];
      assert.equal(scores.length, others.length);
      scores.forEach((score, i) => {
        for (const [key, value] of Object.entries(score)) {
          const other = others[i][key as keyof typeof score];
          // Members join in the order of their points: sums over them differ in the last bit.
          if (typeof value === 'number' && typeof other === 'number') assertClose(value, other, 1e-9, key);
          else assert.deepEqual(value, other, key);
        }
      });
    }),
    { numRuns: 10, endOnFailure: true },
  );
});
