/** Cases that anybody would see at a glance, on the shipped model at the defaults of `backtest`, and flat series. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Unusualness } from '../../../src/detection/alarm/alarm.ts';
import { twoSidedThreshold } from '../../../src/detection/calibration/threshold.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { fc } from '../../fixture/fast-check.ts';
import { contextForecaster } from '../../fixture/models/context-forecaster.ts';
import { daily, startShippedModel, whiteNoise } from '../../fixture/stream/backtest.ts';
import { detectSeries } from '../../fixture/stream/stream-detection.ts';
import { streamSettings } from '../../fixture/stream/stream-run.ts';

const { backtest, close } = await startShippedModel();
after(close);

/** Observations of a detection window at the defaults. */
const WINDOW = 24;

type ValueAt = (i: number) => number;
const seriesOf = (length: number, valueAt: ValueAt) => Array.from({ length }, (_, i) => valueAt(i));
const flagged = (scores: readonly ScoreRecord[]) => scores.flatMap(({ anomaly }, i) => (anomaly ? [i] : []));
const withSpikes = (values: readonly number[], at: readonly number[], size: number) =>
  values.map((value, i) => (at.includes(i) ? value + size : value));
const countFlagged = (scores: readonly ScoreRecord[], at: readonly number[]) =>
  at.filter((i) => scores[i].anomaly).length;

test('flat, then a jump: every point of the incident is scored and flagged, and flags end a window after it', async () => {
  const scores = await backtest(seriesOf(900, (i) => (i >= 600 && i < 624 ? 500 : 0)));
  for (const { anomalyScore, anomaly, grade } of scores.slice(600, 624)) {
    assert.ok(anomaly && Number.isFinite(anomalyScore) && anomalyScore! > 0 && grade! > 0.5);
  }
  assert.ok(scores[600].alarm);
  assert.deepEqual(flagged(scores.slice(0, 600)), []);
  assert.deepEqual(flagged(scores.slice(624 + WINDOW)), []);
});

test('flat, then a jump within a window: flagged until the next forecast, which has seen the new level', async () => {
  const scores = await backtest(seriesOf(900, (i) => (i >= 606 && i < 630 ? 500 : 0)));
  assert.equal(flagged(scores.slice(606, 624)).length, 18);
  assert.ok(scores.slice(606, 624).every(({ grade }) => grade! > 0.5));
  assert.deepEqual(flagged(scores.slice(624 + WINDOW)), []);
});

test('flat, an incident of 24 rows, and flat again: of the rows behind it hardly one is an alarm or flagged', async () => {
  for (const start of [600, 601, 606, 618, 623]) {
    const scores = await backtest(seriesOf(900, (i) => (i >= start && i < start + 24 ? 500 : 0)));
    const alarms = scores.flatMap(({ alarm }, i) => (alarm ? [i] : []));
    const behind = alarms.filter((i) => i >= start + 24).length;
    assert.ok(alarms.includes(start) && behind <= 2, `from ${start}: ${behind} alarms behind the incident`);
    const anomalies = flagged(scores.slice(start + 24));
    assert.ok(anomalies.length <= 2, `from ${start}: ${anomalies.length} flags behind the incident`);
  }
});

test('a series rounded to integers: a jump of 9 is flagged, a flip of the last digit is not', async () => {
  const noise = whiteNoise(3);
  const spikes = [581, 664, 747, 830];
  const quantised = seriesOf(900, () => (noise() > 1.9 ? 21 : 20));
  for (const values of [withSpikes(new Array(900).fill(20), spikes, 9), withSpikes(quantised, spikes, 9)]) {
    const scores = await backtest(values);
    assert.deepEqual(flagged(scores), spikes);
    for (const i of spikes) assert.ok(scores[i].grade! > 0.5);
  }
});

for (const glitch of [100, 1e5, 1e38]) {
  test(`after one glitch of ${glitch} all 12 later spikes of 8 sigma are flagged, and little else`, async () => {
    const spikes = seriesOf(12, (k) => 708 + 100 * k);
    for (const season of [0, 5]) {
      const noise = whiteNoise(5);
      const values = withSpikes(
        seriesOf(2_000, (i) => noise() + season * daily(i)),
        spikes,
        8,
      );
      const scores = await backtest(values.with(700, glitch));
      assert.ok(scores[700].anomaly);
      assert.equal(countFlagged(scores, spikes), spikes.length, `season ${season}`);
      assert.ok(spikes.every((i) => scores[i].grade! > 0.4));
      const others = flagged(scores).length - spikes.length - 1;
      assert.ok(others <= 0.02 * scores.length, `${others} other flags`);
    }
  });
}

test('a new level is normal from the first forecast that has seen a window of it, two windows later at most', async () => {
  for (const level of [10, 100, 10_000]) {
    for (const start of [720, 733]) {
      const noise = whiteNoise(9);
      const scores = await backtest(seriesOf(1_500, (i) => noise() + (i >= start ? level : 0)));
      const unseen = Math.ceil((start + 1) / WINDOW) * WINDOW;
      assert.equal(flagged(scores.slice(start, unseen)).length, unseen - start);
      const seen = Math.ceil((start + WINDOW) / WINDOW) * WINDOW;
      const later = flagged(scores.slice(seen)).length;
      assert.ok(later <= 0.02 * (1_500 - seen), `level ${level} from ${start}: ${later} flags after it was seen`);
    }
  }
});

test('on a random walk the last steps of the horizon are flagged about as often as the first', async () => {
  const counts = { first: [0, 0], last: [0, 0] };
  for (let seed = 100; seed < 108; seed++) {
    const noise = whiteNoise(seed);
    let level = 0;
    const values = seriesOf(2_500, () => {
      level += noise();
      return level;
    });
    for (const { state, anomaly, position } of await backtest(values)) {
      const step = position % WINDOW;
      const count = step < 4 ? counts.first : step >= 19 ? counts.last : null;
      if (state !== 'scored' || count === null) continue;
      count[0] += Number(anomaly);
      count[1]++;
    }
  }
  const [first, last] = [counts.first, counts.last].map(([flags, rows]) => flags / rows);
  assert.ok(first > 0.005 && last < 0.03 && last < 2.5 * first, `${first} of steps 1-4, ${last} of steps 20-24`);
});

test('score and flag agree: an anomaly is a score beyond the threshold', async () => {
  const noise = whiteNoise(8);
  const values = seriesOf(1_500, (i) => noise() ** 3 + 3 * Math.sin(i / 5) + (i % 97 === 0 ? 7 : 0));
  for (const level of [95, 99]) {
    const scores = (await backtest(values, { level })).filter(({ state }) => state === 'scored');
    assert.ok(flagged(scores).length > 20);
    for (const { anomaly, anomalyScore } of scores) {
      assert.equal(anomaly, Math.abs(anomalyScore!) > twoSidedThreshold(level), `score ${anomalyScore}`);
    }
  }
});

test('h 1 does not echo: no forecast follows a spike so far that the point after it is flagged as too low', async () => {
  const spikes = seriesOf(4, (k) => 650 + 170 * k);
  const noise = whiteNoise(50);
  const values = withSpikes(
    seriesOf(1_300, (i) => noise() + 5 * daily(i)),
    spikes,
    20,
  );
  const scores = await backtest(values, { h: 1, detectionSize: WINDOW });
  assert.equal(countFlagged(scores, spikes), spikes.length);
  for (const i of spikes) assert.ok(scores[i + 1].anomalyScore! > -2, `score ${scores[i + 1].anomalyScore}`);
});

test('a first value of 2^31 - 1 is not the origin for life: later spikes are found', async () => {
  const noise = whiteNoise(4);
  const spikes = [500, 550, 601, 677, 733, 810];
  const values = withSpikes(
    seriesOf(900, () => 20 + Math.max(-0.5, Math.min(0.5, noise() / 4))),
    spikes,
    5,
  );
  const scores = await backtest(values.with(0, 2 ** 31 - 1));
  assert.equal(countFlagged(scores, spikes), spikes.length);
  assert.ok(Math.abs(scores[600].forecast! - 20) < 0.5, `${scores[600].forecast}`);
});

const SETTINGS = streamSettings({ h: 24, detectionSize: 24, stepSize: 24, calibrationSize: 288, context: 512 });
/** Each of z, d and n counts once, w three times. */
const TERMS = 6;

const { limits, forecast } = contextForecaster((context) => context.at(-1)!);
/** Without a deviation of its own, which would be that of a series with a scale. */
const lastValue = { limits, forecast };

/** What the first move of a series shows that was flat before. */
async function firstMove(level: number, rows: number, value: number): Promise<Unusualness> {
  const values = Array.from({ length: rows + 1 }, (_, row) => (row < rows ? level : value));
  return (await detectSeries(values, SETTINGS, lastValue)).at(-1)!.unusual!;
}

const size = fc
  .record({ digits: fc.double({ min: 1, max: 10, noNaN: true }), power: fc.integer({ min: -9, max: 9 }) })
  .map(({ digits, power }) => digits * 10 ** power);

test('the first move of a flat series counts for no more than as many rows are evidence for, whatever its size and digits', async () => {
  const level = fc.oneof(fc.constant(0), size);
  await fc.assert(
    fc.asyncProperty(level, size, fc.integer({ min: 24, max: 300 }), async (from, move, rows) => {
      const { sharp, wide } = await firstMove(from, rows, from + move);
      assert.ok(sharp <= TERMS * (rows + 1) && wide <= TERMS * (rows + 1), `${sharp} after ${rows} rows`);
    }),
    { numRuns: 100 },
  );
});

test('a series that was flat for long shows its first move the more the longer it was', async () => {
  const shown = await Promise.all([30, 100, 300].map((rows) => firstMove(0, rows, 0.001484)));
  const sharps = shown.map(({ sharp }) => sharp);
  const expected = sharps.toSorted((a, b) => a - b);
  assert.deepEqual(sharps, expected);
  assert.ok(sharps[0] < sharps[1] && sharps[2] > 300, String(sharps));
});
