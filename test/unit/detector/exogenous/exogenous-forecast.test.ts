import assert from 'node:assert/strict';
import test from 'node:test';
import { forecastWithExogenous } from '../../../../src/detector/exogenous/exogenous-forecast.ts';
import { quantileForecaster } from '../../../fixture/http-service.ts';

const N = 240;
const noise = (i: number) => (Math.sin((i + 1) * 12.9898) * 43_758.5453) % 1;
const load = Float64Array.from({ length: N + 10 }, (_, i) => 5 * noise(i));
const values = Float64Array.from({ length: N }, (_, i) => 50 + load[i] / 2 + noise(i + 1_000) / 10);
const variable = { values: load, categorical: false };

for (const cleanFirst of [true, false]) {
  test(`intervals are narrower where a variable is known ahead than where only its past is (${cleanFirst ? 'removed before' : 'applied after'} the model)`, async () => {
    const settings = {
      h: 10,
      context: 64,
      probabilities: [0.1, 0.9],
      cleanFirst,
      inSampleHorizon: 10,
      decimation: null,
    };
    const widthOf = async (future: readonly (typeof variable | null)[]) => {
      const point = { values, cutoff: N, past: [variable], future, futureStart: N };
      const [{ quantiles }] = await forecastWithExogenous(
        [point],
        { ...settings, pause: async () => {} },
        quantileForecaster(),
      );
      return quantiles[1][0] - quantiles[0][0];
    };
    assert.ok((await widthOf([null])) > 1.1 * (await widthOf([variable])));
  });
}
