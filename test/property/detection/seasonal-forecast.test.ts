import assert from 'node:assert/strict';
import test from 'node:test';
import type { HorizonForecast } from '../../../src/forecasting/calibrated-forecasts.ts';
import {
  forecastMultiResolution,
  forecastsPerPoint,
  lookbackLength,
} from '../../../src/forecasting/multi-resolution.ts';
import { fc } from '../../fixture/fast-check.ts';
import { quantileForecaster } from '../../fixture/http/http-service.ts';

const settings = fc.record({
  h: fc.integer({ min: 1, max: 40 }),
  context: fc.constantFrom(32, 64),
  probabilities: fc.constantFrom([], [0.1, 0.75]),
  aggregation: fc.record({
    stride: fc.integer({ min: 2, max: 5 }),
    blocks: fc.constantFrom(16, 32),
    day: fc.integer({ min: 6, max: 20 }),
  }),
});

/** A daily wave, weekly steps, missing values, and a level that may be far from zero. */
const history = fc
  .record({
    length: fc.integer({ min: 20, max: 500 }),
    level: fc.constantFrom(0, -3, 5e6),
    noise: fc.infiniteStream(fc.double({ min: -1, max: 1, noNaN: true })),
    missing: fc.infiniteStream(fc.integer({ min: 0, max: 12 })),
    day: fc.integer({ min: 6, max: 20 }),
  })
  .map(({ length, level, noise, missing, day }) =>
    Float64Array.from({ length }, (_, t) => {
      const wave = 5 * Math.sin((2 * Math.PI * t) / day) + (Math.floor(t / day) % 7 < 5 ? 8 : 0);
      return missing.next().value === 0 ? Number.NaN : level + wave + noise.next().value!;
    }),
  );

const sameNumbers = (a: HorizonForecast, b: HorizonForecast) => assert.deepEqual(a, b);

test('a history cut to the lookback gives the same forecast, bit for bit', async () => {
  let blended = 0;
  await fc.assert(
    fc.asyncProperty(settings, history, async (chosen, values) => {
      const [whole] = await forecastMultiResolution([{ values, cutoff: values.length }], chosen, {
        forecaster: quantileForecaster(),
      });
      const cut = values.slice(-lookbackLength(chosen));
      const [same] = await forecastMultiResolution([{ values: cut, cutoff: cut.length }], chosen, {
        forecaster: quantileForecaster(),
      });
      sameNumbers(same, whole);
      const cycled = { ...chosen, aggregation: null, year: chosen.aggregation.day };
      const pair = [values, values.slice(-lookbackLength(cycled))].map((own) => {
        const points = [{ values: own, cutoff: own.length }];
        return forecastMultiResolution(points, cycled, { forecaster: quantileForecaster() });
      });
      sameNumbers((await pair[1])[0], (await pair[0])[0]);
      const [fine] = await forecastMultiResolution(
        [{ values, cutoff: values.length }],
        { ...chosen, aggregation: null },
        { forecaster: quantileForecaster() },
      );
      if (fine.mean.some((value, k) => value !== whole.mean[k])) blended++;
    }),
    { numRuns: 300 },
  );
  assert.ok(blended > 0, `only ${blended} forecasts were blended`);
});

test('a forecast depends neither on other points nor on values after its cutoff, and is deterministic', async () => {
  await fc.assert(
    fc.asyncProperty(settings, fc.array(history, { minLength: 2, maxLength: 4 }), async (chosen, series) => {
      const points = series.flatMap((values) => [
        { values, cutoff: values.length },
        { values, cutoff: Math.ceil(values.length * 0.8) },
      ]);
      const atOnce = await forecastMultiResolution(points, chosen, { forecaster: quantileForecaster() });
      const again = await forecastMultiResolution(points, chosen, { forecaster: quantileForecaster() });
      for (const [i, { values, cutoff }] of points.entries()) {
        const past = values.slice(0, cutoff);
        const [alone] = await forecastMultiResolution([{ values: past, cutoff }], chosen, {
          forecaster: quantileForecaster(),
        });
        sameNumbers(atOnce[i], alone);
        sameNumbers(atOnce[i], again[i]);
      }
    }),
    { numRuns: 60 },
  );
});

test('intervals are shifted with the median and keep their widths', async () => {
  await fc.assert(
    fc.asyncProperty(settings, history, async (chosen, values) => {
      const requested = { ...chosen, probabilities: [0.1, 0.9] };
      const at = [{ values, cutoff: values.length }];
      const [forecast] = await forecastMultiResolution(at, requested, { forecaster: quantileForecaster() });
      const [fine] = await forecastMultiResolution(
        at,
        { ...requested, aggregation: null },
        { forecaster: quantileForecaster() },
      );
      for (let k = 0; k < chosen.h; k++) {
        const [width, before] = [forecast, fine].map(({ quantiles }) => quantiles[1][k] - quantiles[0][k]);
        if (!Number.isNaN(before))
          assert.ok(Math.abs(width - before) <= 1e-6 * Math.max(1, Math.abs(forecast.mean[k])));
      }
    }),
    { numRuns: 60 },
  );
});

test('no point needs more forecasts than forecastsPerPoint counts', async () => {
  await fc.assert(
    fc.asyncProperty(settings, history, async (chosen, values) => {
      let rows = 0;
      const forecaster = quantileForecaster();
      const counted: typeof forecaster = {
        limits: forecaster.limits,
        forecast(batch) {
          rows += batch.rows;
          return forecaster.forecast(batch);
        },
        forecastQuantiles(batch) {
          rows += batch.rows;
          return forecaster.forecastQuantiles(batch);
        },
      };
      await forecastMultiResolution([{ values, cutoff: values.length }], chosen, { forecaster: counted });
      assert.ok(rows <= forecastsPerPoint(chosen, chosen.probabilities.length > 0), `${rows} forecasts`);
    }),
    { numRuns: 100 },
  );
});
