import assert from 'node:assert/strict';
import test from 'node:test';
import { detectOnline } from '../../../../../src/api/tasks/online-detection/online-detection-run.ts';
import { cutoffsOfWindow } from '../../../../../src/detection/calibration/cutoff-grid.ts';
import type { DetectionSettings } from '../../../../../src/detection/calibration/settings.ts';
import type { ForecastBatch, QuantileForecaster } from '../../../../../src/forecasting/forecaster.ts';
import { contextForecaster } from '../../../../fixture/models/context-forecaster.ts';

const SETTINGS: DetectionSettings = {
  h: 24,
  detectionSize: 48,
  stepSize: 24,
  level: 99,
  thresholdMethod: 'univariate',
  calibration: 'plain',
  alarmRate: 0.001,
  calibrationSize: 'all',
  context: 512,
};

test('a graded history is forecast once at each cutoff, with quantiles at the first of them', async () => {
  const { limits, forecast, forecastQuantiles } = contextForecaster((context) => context.at(-1)!);
  const rows = { all: 0, median: 0 };
  const counted = (quantiles: 'all' | 'median', batch: ForecastBatch) => {
    rows[quantiles] += batch.rows;
    return batch;
  };
  const forecaster: QuantileForecaster = {
    limits,
    forecast: (batch) => forecast(counted('median', batch)),
    forecastQuantiles: (batch) => forecastQuantiles.call({ forecast } as QuantileForecaster, counted('all', batch)),
  };
  const series = [600, 500].map((length) => Float64Array.from({ length }, (_, i) => Math.sin(i / 5)));
  const graded = await detectOnline({ series, settings: SETTINGS, forecaster });
  const cutoffs = series.map(({ length }) => cutoffsOfWindow(length, SETTINGS).length);
  assert.equal(rows.all + rows.median, cutoffs[0] + cutoffs[1]);
  assert.equal(rows.all, 26);
  assert.ok(graded.every(({ grade }) => grade.every(Number.isFinite)));
  const plain = await detectOnline({ series, settings: { ...SETTINGS, alarmRate: null }, forecaster });
  for (const [i, { forecast: medians, score }] of plain.entries()) {
    assert.deepEqual([graded[i].forecast, graded[i].score], [medians, score]);
  }
});

/** Values with a dip, `back` rows from the end. */
function dipping(length: number, back: number): Float64Array {
  return Float64Array.from({ length }, (_, i) => {
    return Math.sin(i / 5) + ((i * 7_919) % 13) / 40 - (i === length - back ? 4 : 0);
  });
}

test('each series of a request has the events of the series alone, with their kinds', async () => {
  const series = [700, 700, 700].map((length) => dipping(length, 40));
  const request = { settings: SETTINGS, forecaster: contextForecaster((context) => context.at(-1)!), eventStepMs: 1 };
  const together = await detectOnline({ ...request, series });
  for (const [i, values] of series.entries()) {
    const [{ events }] = await detectOnline({ ...request, series: [values] });
    assert.equal(events.at(-1)?.kind, 'dip');
    const expected = events.map((event) => ({ ...event, series: String(i) }));
    assert.deepEqual(together[i].events, expected);
  }
});

test('series that are detected in several parts have the results and the events of each alone', async () => {
  const series = [140_000, 700, 140_000, 300, 500].map((length, i) => dipping(length, 40 + i));
  const forecaster = contextForecaster((context) => context.at(-1)!);
  const request = { settings: SETTINGS, forecaster, eventStepMs: 3_600_000 };
  const together = await detectOnline({ ...request, series });
  assert.equal(together.length, series.length);
  for (const [i, values] of series.entries()) {
    const [{ events, ...alone }] = await detectOnline({ ...request, series: [values] });
    const { events: found, ...numbers } = together[i];
    assert.deepEqual(numbers, alone);
    assert.ok(events.length > 0);
    const expected = events.map((event) => ({ ...event, series: String(i) }));
    assert.deepEqual(found, expected);
  }
});

const dips = (lengths: readonly number[]) => lengths.map((length) => dipping(length, 40));
for (const { name, series, settings = SETTINGS } of [
  { name: 'many series', series: dips(Array(12).fill(1_100)) },
  { name: 'one long series', series: dips([13_200]) },
  {
    name: 'a group',
    series: dips(Array(4).fill(3_300)),
    settings: { ...SETTINGS, thresholdMethod: 'multivariate' } as const,
  },
])
  test(`other requests have their turn while 13,200 rows of ${name} are graded`, async () => {
    const forecaster = contextForecaster((context) => context.at(-1)!);
    let turns = 0;
    let turnsForecast = 0;
    const counted: QuantileForecaster = {
      ...forecaster,
      async forecast(batch) {
        const made = await forecaster.forecast(batch);
        turnsForecast = turns;
        return made;
      },
    };
    let counting = true;
    const count = () => {
      turns++;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    await detectOnline({ series, settings, forecaster: counted });
    counting = false;
    assert.ok(turns - turnsForecast >= 6, `${turns - turnsForecast} turns`);
  });

test('a request in parts has no more rows in flight than two batches', async () => {
  const forecaster = contextForecaster((context) => context.at(-1)!);
  let rows = 0;
  let most = 0;
  const counted: QuantileForecaster = {
    ...forecaster,
    async forecast(batch) {
      rows += batch.rows;
      most = Math.max(most, rows);
      await new Promise(setImmediate);
      rows -= batch.rows;
      return forecaster.forecast(batch);
    },
  };
  const series = [140_000, 140_000, 140_000].map((length) => dipping(length, 40));
  await detectOnline({ series, settings: { ...SETTINGS, alarmRate: null }, forecaster: counted });
  assert.equal(most, 1_024);
});
