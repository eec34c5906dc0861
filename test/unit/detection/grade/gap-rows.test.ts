import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noiseAt } from '../../../../src/demo/hash-noise.ts';
import type { StreamDetectionSettings } from '../../../../src/detection/calibration/settings.ts';
import { contextForecaster } from '../../../fixture/models/context-forecaster.ts';
import { detectSeries } from '../../../fixture/stream/stream-detection.ts';
import { streamSettings } from '../../../fixture/stream/stream-run.ts';

const SETTINGS: StreamDetectionSettings = streamSettings({
  h: 24,
  detectionSize: 24,
  stepSize: 24,
  calibrationSize: 288,
  context: 512,
  gapLimit: 512,
});

/** The straight line through the first and the last value of its context. */
const lineForecaster = contextForecaster((context, step) => {
  const first = context.findIndex((value) => !Number.isNaN(value));
  const last = context.findLastIndex((value) => !Number.isNaN(value));
  const slope = last > first ? (context[last] - context[first]) / (last - first) : 0;
  return context[last] + slope * (context.length - last + step);
});

const GAP = { start: 800, end: 920 };
const rising = (row: number) => row / 10 + 0.1 * noiseAt(3, row);
const withOutage = (seen: (row: number) => number) =>
  Array.from({ length: 1_100 }, (_, row) => (row >= GAP.start && row < GAP.end ? Number.NaN : seen(row)));

test('behind an outage what has changed meanwhile is no anomaly, where the forecast knows of it', async () => {
  const detections = await detectSeries(withOutage(rising), SETTINGS, lineForecaster);
  for (let row = GAP.end; row < GAP.end + 24; row++)
    assert.ok(detections[row].grade! < 0.4, `${row}: ${detections[row].grade}`);
});

test('what begins during an outage is found by its first value', async () => {
  const shifted = withOutage((row) => rising(row) + (row > GAP.start ? 10 : 0));
  const detections = await detectSeries(shifted, SETTINGS, lineForecaster);
  assert.ok(detections[GAP.end].grade! > 0.5, String(detections[GAP.end].grade));
});

test('a spike among the first values behind an outage is found', async () => {
  const spiked = withOutage((row) => rising(row) + (row === GAP.end + 3 ? 3 : 0));
  const detections = await detectSeries(spiked, SETTINGS, lineForecaster);
  assert.ok(detections[GAP.end + 3].grade! > 0.5, String(detections[GAP.end + 3].grade));
});

/** A day of 24 rows, which it knows. */
const dayForecaster = contextForecaster((_, step) => 20 * Math.sin((Math.PI * step) / 12));
const day = (row: number) => 20 * Math.sin((Math.PI * row) / 12) + noiseAt(3, row);
for (const missing of [1, 2, 3, 6, 12]) {
  test(`${missing} missing rows of a day leave the grades of the next two days as they would be`, async () => {
    const values = Array.from({ length: 480 }, (_, row) => day(row));
    const whole = await detectSeries(values, SETTINGS, dayForecaster);
    const gappy = values.map((value, row) => (row >= 300 && row < 300 + missing ? Number.NaN : value));
    const detections = await detectSeries(gappy, SETTINGS, dayForecaster);
    for (let row = 300 + missing; row < 350; row++) {
      const [grade, asWhole] = [detections[row].grade!, whole[row].grade!];
      assert.ok(grade < asWhole + 0.15, `${row}: ${grade} instead of ${asWhole}`);
    }
  });
}

test('a glitch leaves the grades of the rows behind it, which are on their forecast, below a half', async () => {
  const values = Array.from({ length: 480 }, (_, row) => (row === 300 ? 2_000 : day(row)));
  const detections = await detectSeries(values, SETTINGS, dayForecaster);
  assert.ok(detections[300].grade! > 0.9);
  for (let row = 301; row < 350; row++) assert.ok(detections[row].grade! < 0.5, `${row}: ${detections[row].grade}`);
});

test('an analogue that a spike followed is little evidence against an ordinary value', async () => {
  let unusual = 0;
  for (let spike = 300; spike < 324; spike++) {
    const values = Array.from({ length: 480 }, (_, row) => day(row) + (row === spike ? 20 : 0));
    const detections = await detectSeries(values, SETTINGS, dayForecaster);
    assert.ok(detections[spike].grade! > 0.5);
    unusual += detections.slice(spike + 24).filter(({ grade }) => grade! >= 0.5).length;
  }
  assert.ok(unusual <= 3, `${unusual} rows`);
});
