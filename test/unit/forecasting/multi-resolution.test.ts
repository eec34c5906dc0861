/** The pretrained model on seasons longer than its context: weeks of 5-minute data. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { aggregationOf, frequencyProfile } from '../../../src/api/models/frequency-profile.ts';
import { rollOut } from '../../../src/forecasting/autoregressive-roll-out.ts';
import { forecastMultiResolution } from '../../../src/forecasting/multi-resolution.ts';
import { openCatalog } from '../../../src/models/catalog.ts';
import { Forecasters } from '../../../src/models/onnx-forecaster.ts';
import { seededRandom } from '../../fixture/seeded-random.ts';

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

/** Error of four forecasts of a season, relative to that without a look at the last season. */
async function relativeError(values: Float64Array, freq: string): Promise<number> {
  const { year, history, season: h } = frequencyProfile(freq);
  const points = [4, 3, 2, 1].map((seasons) => ({ values, cutoff: values.length - seasons * h }));
  const errorBy = async (own: typeof year) => {
    const chosen = { h, context: history!, probabilities: [], aggregation: null, year: own };
    const forecasts = await forecastMultiResolution(points, chosen, { forecaster });
    const errors = points.flatMap(({ cutoff }, i) =>
      Array.from(forecasts[i].mean, (value, k) => Math.abs(value - values[cutoff + k])),
    );
    return errors.reduce((sum, error) => sum + error, 0);
  };
  return (await errorBy(year)) / (await errorBy(null));
}

test('the last season improves forecasts of steady growth and of few years', async () => {
  const wobble = (t: number) => Math.sin(t * t * 12.9898);
  const quarters = Float64Array.from({ length: 84 }, (_, t) => {
    return 1.035 ** t * (3 + [0.4, 0.9, 0.2, -1.2][t % 4]) * (1 + 0.02 * wobble(t));
  });
  const months = Float64Array.from({ length: 72 }, (_, t) => {
    return 8_800 + 1_200 * Math.sin(0.3 + (2 * Math.PI * t) / 12) + 250 * wobble(t) - 18 * t;
  });
  for (const [values, freq] of [
    [quarters, 'QS'],
    [months, 'MS'],
  ] as const) {
    const ratio = await relativeError(values, freq);
    assert.ok(ratio < 0.9, `${freq}: ${ratio}`);
  }
});

test('the last season does not count in noise, nor in a random walk of few years', async () => {
  const next = seededRandom(5);
  let at = 0;
  const walk = Float64Array.from({ length: 76 }, () => (at += next() - 0.5));
  assert.equal(await relativeError(walk, 'MS'), 1);
  const noise = Float64Array.from({ length: 300 }, (_, t) => Math.sin(t * t * 12.9898));
  for (const freq of ['QS', 'MS', 'h']) assert.equal(await relativeError(noise, freq), 1);
});
