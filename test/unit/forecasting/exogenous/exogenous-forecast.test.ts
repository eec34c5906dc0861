import assert from 'node:assert/strict';
import test from 'node:test';
import { forecastCalibrated } from '../../../../src/forecasting/calibrated-forecasts.ts';
import { fitExogenous } from '../../../../src/forecasting/exogenous/exogenous-fit.ts';
import {
  BACKTEST_FORECASTS_MAX,
  forecastWithExogenous,
} from '../../../../src/forecasting/exogenous/exogenous-forecast.ts';
import type { ForecastBatch } from '../../../../src/forecasting/forecaster.ts';
import { quantileForecaster } from '../../../fixture/http/http-service.ts';

const N = 240;
const noise = (i: number) => (Math.sin((i + 1) * 12.9898) * 43_758.5453) % 1;
const load = Float64Array.from({ length: N + 10 }, (_, i) => 5 * noise(i));
const values = Float64Array.from({ length: N }, (_, i) => 50 + load[i] / 2 + noise(i + 1_000) / 10);
const SETTINGS = {
  h: 10,
  context: 64,
  probabilities: [0.1, 0.9],
  inSampleHorizon: 10,
  season: 24,
  aggregation: null,
  pause: async () => {},
};
const variable = { values: load, categorical: false };

for (const cleanFirst of [true, false]) {
  test(`intervals are narrower with known future values of a variable than with its past alone (${cleanFirst ? 'removed before' : 'applied after'} the model)`, async () => {
    const widthOf = async (future: readonly (typeof variable | null)[]) => {
      const point = { values, cutoff: N, past: [variable], future, futureStart: N };
      const [{ quantiles }] = await forecastWithExogenous(
        [point],
        { ...SETTINGS, cleanFirst },
        { forecaster: quantileForecaster() },
      );
      return quantiles[1][0] - quantiles[0][0];
    };
    assert.ok((await widthOf([null])) > 1.1 * (await widthOf([variable])));
  });
}

for (const cleanFirst of [true, false]) {
  const how = cleanFirst ? 'removed before' : 'applied after';
  const pointOf = (own: Float64Array, cutoff = N) => {
    return { values: own, cutoff, past: [variable], future: [variable], futureStart: cutoff };
  };
  const settings = { ...SETTINGS, cleanFirst };

  test(`an effect that ended before the last windows is dropped, although it fits the whole history (${how} the model)`, async () => {
    const ended = values.map((value, i) => (i < N - 50 ? value : 50 + 2 * noise(i + 2_000)));
    const fit = await fitExogenous([variable], ended, { ...settings, end: N });
    assert.deepEqual([...fit.weights], [1]);
    const [made] = await forecastWithExogenous([pointOf(ended)], settings, { forecaster: quantileForecaster() });
    assert.deepEqual([...made.weights, ...made.contributions[0]], Array(11).fill(0));
    const [alone] = await forecastCalibrated([{ values: ended, cutoff: N }], settings, {
      forecaster: quantileForecaster(),
    });
    assert.deepEqual([made.mean, made.quantiles], [alone.mean, alone.quantiles]);
  });

  test(`an effect that passes its backtests is kept, and so is one of a history too short for backtests (${how} the model)`, async () => {
    // Where the model is applied first, so short a history has no residuals to fit.
    for (const cutoff of cleanFirst ? [N, 19] : [N]) {
      const [{ weights }] = await forecastWithExogenous([pointOf(values, cutoff)], settings, {
        forecaster: quantileForecaster(),
      });
      assert.deepEqual([...weights], [1], `${cutoff}`);
    }
  });

  test(`backtests use nothing after the cutoff, and only the past of variables without known future values (${how} the model)`, async () => {
    const point = { ...pointOf(values, N - 20), past: [variable, variable], future: [variable, null] };
    const [made] = await forecastWithExogenous([point], settings, { forecaster: quantileForecaster() });
    const later = { ...variable, values: load.map((value, i) => (i < N - 20 ? value : 1e3)) };
    const changed = { ...point, values: values.slice().fill(-1e3, N - 20), past: [later, later] };
    const [same] = await forecastWithExogenous([changed], settings, { forecaster: quantileForecaster() });
    assert.deepEqual({ ...same, typical: same.typical() }, { ...made, typical: made.typical() });
  });
}

test('an effect that is absent from the last windows is kept', async () => {
  const promotion = { values: load.map((_, i) => Number(i < N - 60 && i % 8 === 0)), categorical: true };
  const promoted = values.map((value, i) => value - load[i] / 2 + 20 * promotion.values[i]);
  const point = { values: promoted, cutoff: N, past: [promotion], future: [promotion], futureStart: N };
  const [{ weights }] = await forecastWithExogenous(
    [point],
    { ...SETTINGS, cleanFirst: true },
    { forecaster: quantileForecaster() },
  );
  assert.deepEqual([...weights], [1]);
});

test('the backtests of a point need as many forecasts as are counted', async () => {
  let rows = 0;
  const forecaster = quantileForecaster();
  const counting = {
    ...forecaster,
    forecast(batch: ForecastBatch) {
      rows += batch.rows;
      return forecaster.forecast(batch);
    },
  };
  const point = { values, cutoff: N, past: [variable], future: [variable], futureStart: N };
  await forecastWithExogenous([point], { ...SETTINGS, probabilities: [], cleanFirst: true }, { forecaster: counting });
  assert.equal(rows, 1 + BACKTEST_FORECASTS_MAX);
});

test('windows of a group are separate groups: none contains a series twice, also where their past overlaps', async () => {
  const forecaster = quantileForecaster();
  const members: number[] = [];
  const recording = {
    ...forecaster,
    forecastQuantiles(batch: ForecastBatch) {
      if (batch.isGroup) members.push(batch.rows);
      return forecaster.forecastQuantiles(batch);
    },
  };
  const other = values.map((value, i) => 2 * value + noise(i));
  const windows = [N - 20, N - 10].flatMap((cutoff) =>
    [values, other].map((own) => ({
      values: own,
      cutoff,
      time: cutoff,
      past: [variable],
      future: [variable],
      futureStart: cutoff,
    })),
  );
  await forecastWithExogenous(windows, { ...SETTINGS, cleanFirst: true }, { forecaster: recording });
  assert.deepEqual([...new Set(members)], [2]);
});
