import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noiseAt } from '../../../../src/demo/hash-noise.ts';
import type { Detection } from '../../../../src/detection/alarm/detection.ts';
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
});
const ROWS = 1_200;

/** The median of its context, so that the forecast does not follow an outlier. */
const medianForecaster = contextForecaster(medianOf);

function medianOf(context: Float32Array): number {
  const seen = context.filter((value) => !Number.isNaN(value)).sort();
  return seen[seen.length >> 1];
}

/** Noise of deviation 1 around 20. */
const noise = (row: number) => 20 + noiseAt(7, row);

function gradesOf(values: readonly number[]): Promise<Detection[]> {
  return detectSeries(values, SETTINGS, medianForecaster);
}

for (const at of [0, 1, 7, 15, 25, 60, 200]) {
  for (const size of [100, 1e5, 2 ** 31]) {
    test(`an outlier of ${size} at row ${at} does not hide a spike of 8 deviations`, async () => {
      const values = Array.from({ length: ROWS }, (_, row) => (row === at ? size : noise(row)));
      for (let row = 600; row < ROWS; row += 100) values[row] += 8;
      const detections = await gradesOf(values);
      for (let row = 600; row < ROWS; row += 100) {
        const { grade } = detections[row];
        assert.ok(grade > 0.5, `row ${row} has the grade ${grade}`);
      }
    });
  }
}

test('a glitch and its echo change the grades of later spikes by a tenth at most, also a season later', async () => {
  const spikesOf = async (glitch: number, rows = 1) => {
    const isGlitch = (row: number) => row >= 500 && row < 500 + rows;
    const values = Array.from({ length: ROWS }, (_, row) => noise(row) + (isGlitch(row) ? glitch : 0));
    for (let row = 530; row < ROWS; row += 100) values[row] += 12;
    const grades = (await gradesOf(values)).map(({ grade }) => grade);
    return grades.filter((_, row) => row >= 530 && (row - 530) % 100 === 0);
  };
  const usual = await spikesOf(0);
  for (const glitch of [30, 100, 1e5, -1e5]) {
    for (const rows of [1, 2, 3, 4]) {
      for (const [i, grade] of (await spikesOf(glitch, rows)).entries()) {
        const behind = `${rows} rows of ${glitch}`;
        assert.ok(grade > 0.9 * usual[i], `spike ${i} behind ${behind} has the grade ${grade}, not ${usual[i]}`);
      }
    }
  }
});

/** The median of the newest eight values: it follows a new level at its next cutoff. */
const followingForecaster = contextForecaster((context) => medianOf(context.slice(-8)));

for (const at of [60, 100, 200]) {
  test(`a new level at row ${at}, not followed by its forecast for a window, does not hide a spike of 8 deviations`, async () => {
    const values = Array.from({ length: ROWS }, (_, row) => noise(row) + (row < at ? 0 : 100));
    for (let row = 600; row < ROWS; row += 100) values[row] += 8;
    const detections = await detectSeries(values, SETTINGS, followingForecaster);
    for (let row = 600; row < ROWS; row += 100) {
      const { grade } = detections[row];
      assert.ok(grade > 0.5, `row ${row} has the grade ${grade}`);
    }
  });
}

for (const [name, valueAt] of [
  ['constantly 1e-300', () => 1e-300],
  ['the smallest number there is', () => Number.MIN_VALUE],
  ['noise of 1e-300', (row: number) => 1e-300 * noise(row)],
  ['denormal steps', (row: number) => (row % 2) * Number.MIN_VALUE],
] as const) {
  test(`a series too small for float32 has forecasts, scores and grades: ${name}`, async () => {
    const detections = await gradesOf(Array.from({ length: 240 }, (_, row) => valueAt(row)));
    for (const { position, forecast, grade, score } of detections.slice(48)) {
      assert.ok(Number.isFinite(forecast) && Number.isFinite(score), `row ${position}: ${forecast}, ${score}`);
      assert.ok(grade >= 0 && grade < 0.5, `row ${position} has the grade ${grade}`);
    }
  });
}

const LEVEL = 300_000_000;
const PAGE = 4_096;

test('a page of memory more is nothing, after hundreds of rows without one', async () => {
  const detections = await gradesOf(Array.from({ length: 600 }, (_, row) => LEVEL + (row < 300 ? 0 : PAGE)));
  for (const { position, grade } of detections.slice(48))
    assert.ok(grade < 0.1, `row ${position} has the grade ${grade}`);
});

test('a tenth of the memory more is an anomaly, after hundreds of rows without any', async () => {
  const detections = await gradesOf(Array.from({ length: 600 }, (_, row) => LEVEL * (row < 300 ? 1 : 1.1)));
  assert.ok(detections[300].grade > 0.8, `${detections[300].grade}`);
});

/** The unusualness that a grade shows. */
const unusualnessOf = ({ grade }: Detection) => (14 * grade) / (1 - grade);

test('the first digit of a series that began at 0 was a million times its scale', async () => {
  for (const digit of [1, 0.1, 0.001]) {
    const detections = await gradesOf(Array.from({ length: 500 }, (_, row) => (row === 450 ? digit : 0)));
    const unusualness = unusualnessOf(detections[450]);
    assert.ok(unusualness > 20 && unusualness < 100, `${digit} has the unusualness ${unusualness}`);
  }
});

test('what leaves a series of 0 by far is an anomaly, and a return that its forecast foresaw is none', async () => {
  // A first value other than 0 was the only unit.
  for (const [value, first] of [
    [80, 0],
    [5e9, 0],
    [1 / 3, 0],
    [80, 1e-7],
  ]) {
    const values = Array.from({ length: 500 }, (_, row) => (row === 450 ? value : row === 0 ? first : 0));
    const detections = await gradesOf(values);
    const unusualness = unusualnessOf(detections[450]);
    assert.ok(unusualness > 400 && unusualness < 5_000, `${value} has the unusualness ${unusualness}`);
    assert.ok(unusualnessOf(detections[451]) < 14, `${value}: its return has ${unusualnessOf(detections[451])}`);
  }
});

test('a season of seven rows shows nothing unusual while the search has seen no multiple of it', async () => {
  const weekly = (row: number) => (row % 7 >= 5 ? 40 : 100) + noiseAt(7, row);
  const values = Array.from({ length: 150 }, (_, row) => weekly(row) + (row === 140 ? 12 : 0));
  const lastWeek = contextForecaster((context) => context[context.length - 7]);
  const detections = await detectSeries(values, { ...SETTINGS, h: 1, stepSize: 1 }, lastWeek);
  const early = detections.slice(30, 60).map(({ grade }) => grade ?? 0);
  assert.ok(Math.max(...early) < 0.5, `the highest grade is ${Math.max(...early)}`);
  assert.ok(detections[140].grade! > 0.5, `the outlier has the grade ${detections[140].grade}`);
});

test('a value that its forecast foresaw is no anomaly, however far it moved', async () => {
  const hours = (row: number) => (row % 96) / 4;
  const values = Array.from({ length: 400 }, (_, row) => (hours(row) >= 3 && hours(row) < 4 ? 900 : 20));
  const detections = await gradesOf(values);
  for (const { position, grade, forecast } of detections.slice(48)) {
    const isForeseen = Math.abs(forecast - values[position]) < 10;
    assert.ok(!isForeseen || grade < 0.5, `row ${position} has the grade ${grade} at its forecast`);
  }
});
