import assert from 'node:assert/strict';
import test from 'node:test';
import { calibrate, deviationAt } from '../../../src/detection/calibration/calibration.ts';
import { flagResiduals } from '../../../src/detection/calibration/threshold.ts';
import { rollOut } from '../../../src/forecasting/autoregressive-roll-out.ts';
import { forecastInSample, inSampleSegments } from '../../../src/forecasting/in-sample.ts';
import { fc } from '../../fixture/fast-check.ts';
import { quantileForecaster } from '../../fixture/http/http-service.ts';
import { arithmeticForecast } from '../../fixture/models/arithmetic-forecaster.ts';

const forecaster = rollOut(quantileForecaster());
const settings = { h: 7, context: 64 };

test('every value has exactly one forecast, from other values', () => {
  fc.assert(
    fc.property(fc.nat(299), fc.integer({ min: 1, max: 50 }), fc.nat(), (last, h, start) => {
      const [length, first] = [last + 1, last === 0 ? 0 : 1 + (start % last)];
      const forecasts = new Array(length).fill(0);
      for (const { cutoff, steps, backwards } of inSampleSegments(length, h, first)) {
        assert.ok(cutoff >= 1 && steps >= 1 && steps <= h);
        for (let k = cutoff; k < cutoff + steps; k++) forecasts[backwards ? length - 1 - k : k]++;
      }
      assert.ok(forecasts.every((count) => count === (length === 1 ? 0 : 1)));
    }),
  );
});

test('a value is forecast from earlier values, and at the beginning from later ones', async () => {
  const values = Float64Array.from({ length: 80 }, (_, i) => Math.sin(i) + 3);
  const [{ forecast }] = await forecastInSample([values], settings, { forecaster });
  const near = (actual: number, expected: number) => assert.ok(Math.abs(actual - expected) < 1e-6);
  const contextOf = (past: Float64Array) => Float32Array.from(past.slice(-64), (value) => value - past.slice(-64)[0]);
  const ahead = values.slice(0, 52);
  near(forecast[52], arithmeticForecast(contextOf(ahead), 7)[0] + ahead.slice(-64)[0]);
  const behind = values.slice(28).reverse();
  near(forecast[27], arithmeticForecast(contextOf(behind), 7)[0] + behind.slice(-64)[0]);
  const [changed] = await forecastInSample([values.with(79, 1e6)], settings, { forecaster });
  assert.deepEqual(changed.forecast.subarray(28), forecast.subarray(28));
});

test('a flag is a value strictly outside z sample deviations; a missing one is never outside', async () => {
  const values = Float64Array.from({ length: 80 }, (_, i) => ((i * 7) % 5) / 5);
  values[40] = 30;
  values[60] = Number.NaN;
  const [forecast] = await forecastInSample([values], settings, { forecaster });
  const calibration = calibrate(forecast.residual);
  const flags = flagResiduals(forecast.residual, calibration, 99);
  flags.forEach((flag, k) => {
    const outside = Math.abs(forecast.residual[k]) > 2.5758293 * deviationAt(calibration, 0, 0);
    assert.equal(flag, outside, `${k}`);
  });
  assert.equal(flags[40], true);
  assert.equal(flags[60], false);
});

test('a series of one value has no forecast', async () => {
  const [{ forecast, residual }] = await forecastInSample([Float64Array.of(1)], settings, { forecaster });
  assert.deepEqual([...forecast, ...residual], [Number.NaN, Number.NaN]);
});

test('missing values at the beginning change no forecast of a whole history', async () => {
  const values = Float64Array.from({ length: 120 }, (_, i) => Math.sin(i / 3) + (i % 7));
  const [whole] = await forecastInSample([values], settings, { forecaster });
  for (const missing of [1, 48, 200]) {
    const padded = Float64Array.from({ length: missing + 120 }, (_, i) => values[i - missing] ?? Number.NaN);
    const [{ forecast }] = await forecastInSample([padded], settings, { forecaster });
    assert.deepEqual(forecast.subarray(missing), whole.forecast, `${missing} missing values`);
  }
});
