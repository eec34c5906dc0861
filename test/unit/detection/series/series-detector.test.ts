import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeriesMemory, seriesLayout } from '../../../../src/detection/memory/series-memory.ts';
import { SeriesDetector } from '../../../../src/detection/series/series-detector.ts';
import { streamSettings } from '../../../fixture/stream/stream-run.ts';

const LEVEL = 95.44997361036415; // two deviations
const settings = streamSettings({
  h: 2,
  stepSize: 2,
  detectionSize: 2,
  level: LEVEL,
  calibration: 'plain',
  calibrationSize: 12,
  context: 16,
});

function freshDetector(changed: Partial<typeof settings> = {}): SeriesDetector {
  return new SeriesDetector(new SeriesMemory(seriesLayout({ ...settings, ...changed })));
}

/** Every due forecast says `forecast` for both steps. */
function scoreAll(detector: SeriesDetector, values: readonly number[], forecast: number) {
  return values.map((value) => {
    if (detector.forecastDue) detector.forecasted(Float32Array.of(forecast, forecast));
    return detector.score(value);
  });
}

//  position    0 ... 15 | 16 ... 27             | 28 ...
//  state       warming  | calibrating: too few  | scored
//              up       | residuals before it   |
test('a series warms up, calibrates for six detection windows, then is scored', () => {
  const values = Array.from({ length: 32 }, (_, i) => i % 3);
  const states = scoreAll(freshDetector(), values, 1).map(({ state }) => state);
  assert.deepEqual(states.slice(0, 16), Array(16).fill('warming-up'));
  assert.deepEqual(states.slice(16, 28), Array(12).fill('calibrating'));
  assert.deepEqual(states.slice(28), Array(4).fill('scored'));
});

test('scores and interval come from the mean and deviation of the residuals before the window', () => {
  const detector = freshDetector();
  // 16 values to warm up, then residuals +1, -1, +1, -1, ... around the forecast 0 (distances from the first value,
  // 10).
  const warm = Array(16).fill(10);
  const alternating = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? 11 : 9));
  scoreAll(detector, [...warm, ...alternating], 0);
  const [normal, high] = scoreAll(detector, [10, 20], 0);
  const deviation = Math.sqrt(12 / 11);
  assert.equal(normal.forecast, 10);
  assert.ok(Math.abs(normal.hi - (10 + 2 * deviation)) < 1e-9 && Math.abs(normal.lo - (10 - 2 * deviation)) < 1e-9);
  assert.equal(normal.score, 0);
  assert.equal(normal.anomaly, false);
  assert.ok(Math.abs(high.score - 10 / deviation) < 1e-9);
  assert.equal(high.anomaly, true);
  assert.deepEqual([normal.windowStart, high.windowStart], [28, 28]);
});

test('forecasts and intervals of the rate of a counter are bounded at 0', () => {
  const values = Array.from({ length: 40 }, (_, i) => (i % 3) / 10);
  for (const [changed, least] of [[{ as: 'rate' }, 0] as const, [{}, -2.1] as const]) {
    const shown = scoreAll(freshDetector(changed), values, -1).slice(30);
    assert.ok(shown.every(({ forecast, lo, hi }) => forecast >= least && lo >= least && hi >= least));
    assert.equal(
      shown.some(({ forecast }) => forecast < 0),
      least < 0,
    );
  }
});

test('a missing value is never flagged and has no score', () => {
  const detector = freshDetector();
  scoreAll(
    detector,
    Array.from({ length: 28 }, (_, i) => i % 5),
    1,
  );
  const [missing] = scoreAll(detector, [Number.NaN], 1);
  assert.equal(missing.score, Number.NaN);
  assert.equal(missing.anomaly, false);
});

test('a constant series flags its first change, with a finite score', () => {
  const detector = freshDetector();
  scoreAll(detector, Array(28).fill(7), 0);
  const [still, jump] = scoreAll(detector, [7, 8], 0);
  assert.deepEqual([still.score, still.anomaly], [0, false]);
  assert.ok(jump.score > 1e6 && jump.score < Number.POSITIVE_INFINITY, `${jump.score}`);
  assert.equal(jump.anomaly, true);
});

test('the context is what was observed before the cutoff, as distances from the first value, padded on the left', () => {
  const detector = freshDetector();
  scoreAll(
    detector,
    Array.from({ length: 20 }, (_, i) => (i === 7 ? Number.NaN : 100 + i)),
    0,
  );
  const context = new Float32Array(18);
  detector.context(context, 0, 18);
  const seen = Array.from({ length: 16 }, (_, i) => i + 4);
  assert.deepEqual([...context], [Number.NaN, Number.NaN, ...seen.map((p) => (p === 7 ? Number.NaN : p))]);
});

test('a position that no cutoff reaches is not forecasted', () => {
  const sparse = streamSettings({ h: 1, stepSize: 2, detectionSize: 2, calibrationSize: 12, context: 16 });
  const detector = new SeriesDetector(new SeriesMemory(seriesLayout(sparse)));
  const detections = Array.from({ length: 20 }, (_, i) => {
    if (detector.forecastDue) detector.forecasted(Float32Array.of(0));
    return detector.score(i);
  });
  const states = detections.slice(15).map(({ state }) => state);
  assert.deepEqual(states, ['warming-up', 'warming-up', 'calibrating', 'not-forecasted', 'calibrating']);
});

test('without any observation in its context a series has nothing to forecast from', () => {
  const detector = freshDetector();
  for (let i = 0; i < 16; i++) detector.score(Number.NaN);
  assert.equal(detector.forecastDue, true);
  assert.equal(detector.hasContext(), false);
  detector.forecasted(null);
  const { state, score } = detector.score(1);
  assert.deepEqual([state, score], ['not-forecasted', Number.NaN]);
});
