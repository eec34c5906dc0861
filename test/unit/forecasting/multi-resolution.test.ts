/** The pretrained model on seasons longer than its context: weeks of 5-minute data. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { aggregationOf, frequencyProfile } from '../../../src/api/models/frequency-profile.ts';
import { rollOut } from '../../../src/forecasting/autoregressive-roll-out.ts';
import { forecastMultiResolution } from '../../../src/forecasting/multi-resolution.ts';
import { openCatalog } from '../../../src/models/catalog.ts';
import { Forecasters } from '../../../src/models/onnx-forecaster.ts';

const model = (await openCatalog({ modelsDir: null })).get('tsmodel-1');
const forecasters = await Forecasters.start([model], { threads: 1 });
after(() => forecasters.close());
const forecaster = rollOut(forecasters.forecasterFor(model.name, 1));

const DAY = 288;
/** Four weeks with low values at weekends. */
const weeks = Float64Array.from({ length: 28 * DAY }, (_, t) => {
  const busy = Math.floor(t / DAY) % 7 < 5 ? 100 : 15;
  return busy * (2 + Math.sin((2 * Math.PI * t) / DAY)) + 6 * Math.sin(t * t * 12.9898);
});
const pointsAt = (days: readonly number[]) => days.map((day) => ({ values: weeks, cutoff: day * DAY }));

async function errorOf(days: readonly number[], aggregated: boolean): Promise<number> {
  const { context } = forecaster.limits;
  const aggregation = aggregated ? aggregationOf(frequencyProfile('5min'), context) : null;
  const points = pointsAt(days);
  const forecasts = await forecastMultiResolution(
    points,
    { h: DAY, context, probabilities: [], aggregation },
    { forecaster },
  );
  const errors = forecasts.flatMap(({ mean }, i) =>
    Array.from(mean, (value, k) => Math.abs(value - weeks[points[i].cutoff + k])),
  );
  return errors.reduce((sum, error) => sum + error, 0) / errors.length;
}

test('aggregation halves the error of a Monday after a weekend of low values', async () => {
  const mondays = [21];
  const [blended, fine] = [await errorOf(mondays, true), await errorOf(mondays, false)];
  assert.ok(blended < fine / 2, `mean absolute error ${blended}, without aggregation ${fine}`);
});

test('aggregation adds less than 10 % to the error of other days', async () => {
  const days = [16, 17, 24];
  const [blended, fine] = [await errorOf(days, true), await errorOf(days, false)];
  assert.ok(blended < fine * 1.1, `mean absolute error ${blended}, without aggregation ${fine}`);
});
