import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeriesMemory, seriesLayout } from '../../../../src/detection/memory/series-memory.ts';
import { earlierValue } from '../../../../src/detection/series/earlier-value.ts';
import { SeriesDetector } from '../../../../src/detection/series/series-detector.ts';
import { streamSettings } from '../../../fixture/stream/stream-run.ts';

const SIZE = 4;
const settings = streamSettings({ h: SIZE, stepSize: SIZE, detectionSize: SIZE, calibrationSize: 24, context: 16 });

test('a row of the open window is known as it was scored, and of the last one within 16 bits', () => {
  const detector = new SeriesDetector(new SeriesMemory(seriesLayout(settings)));
  const scored = Array.from({ length: 81 }, (_, row) => {
    if (detector.forecastDue) detector.forecasted(Float32Array.of(1, 2, 3, 4));
    const value = row === 70 ? Number.NaN : row % 7;
    return { value, ...detector.score(value) };
  });
  assert.equal(detector.windowStart, 80);
  for (const row of [79, 78, 77, 76]) {
    const { value, expected } = earlierValue(detector, row)!;
    assert.equal(value, scored[row].value);
    assert.ok(Math.abs(expected - scored[row].forecast) <= 2 ** -8 * Math.abs(value - expected), `row ${row}`);
  }
  const { value, forecast: expected, lo, hi } = scored[80];
  assert.deepEqual(earlierValue(detector, 80), { value, expected, lo, hi });
  assert.equal(earlierValue(detector, 75), null, 'the window before is not kept');
  assert.equal(earlierValue(detector, 70), null);
});
