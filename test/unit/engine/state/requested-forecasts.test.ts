import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SeriesDetector } from '../../../../src/detection/series/series-detector.ts';
import {
  FORECAST_ROWS_MAX,
  ForecastTurns,
  REQUEST_ROWS_MAX,
  RequestedForecasts,
} from '../../../../src/engine/state/requested-forecasts.ts';
import type { Scorable } from '../../../../src/engine/unit/scorable.ts';
import type { ForecastBatch } from '../../../../src/forecasting/forecaster.ts';

const { signal } = new AbortController();

/** A model whose runs end when the test says so. */
function heldModel() {
  const runs: { readonly rows: number; readonly end: () => void; readonly fail: (error: Error) => void }[] = [];
  const forecast = ({ rows, horizon }: ForecastBatch) => {
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array>();
    runs.push({ rows, end: () => resolve(new Float32Array(rows * horizon)), fail: reject });
    return promise;
  };
  return { runs, forecaster: { limits: { context: 4, contextBuckets: [4], horizonMax: 4 }, forecast } };
}

/** A unit of so many detectors that wait for a forecast. */
function unitOf(forecaster: ReturnType<typeof heldModel>['forecaster'], count = 1): Scorable {
  const detectors = Array.from({ length: count }, () => ({
    forecastDue: true,
    wantsQuantiles: false,
    hasContext: () => true,
    contextLength: () => 4,
    context: () => {},
    forecasted() {
      this.forecastDue = false;
    },
  }));
  const due = () => detectors.filter(({ forecastDue }) => forecastDue) as unknown as SeriesDetector[];
  return { loaded: { forecaster, config: { settings: { h: 2 } } }, forecastsDue: due } as unknown as Scorable;
}

test('each unit waits for its own forecast alone, which is requested once', async () => {
  const { runs, forecaster } = heldModel();
  const forecasts = new RequestedForecasts();
  const [slow, quick] = [unitOf(forecaster), unitOf(forecaster)];
  const slowOnes = [forecasts.supply([slow], signal), forecasts.supply([slow], signal)];
  const quickOne = forecasts.supply([quick], signal);
  assert.equal(runs.length, 2);
  runs[1].end();
  await quickOne;
  assert.equal(quick.forecastsDue().length, 0);
  assert.equal(slow.forecastsDue().length, 1);
  assert.equal(forecasts.underWay(quick), null);
  assert.notEqual(forecasts.underWay(slow), null);
  runs[0].end();
  await Promise.all(slowOnes);
  assert.equal(slow.forecastsDue().length, 0);
});

test('units that are requested together settle with their runs, in the order of requests', async () => {
  const { runs, forecaster } = heldModel();
  const forecasts = new RequestedForecasts();
  const units = Array.from({ length: REQUEST_ROWS_MAX + 1 }, () => unitOf(forecaster));
  const all = forecasts.supply(units, signal);
  const rows = runs.map((run) => run.rows);
  assert.deepEqual(rows, [REQUEST_ROWS_MAX, 1]);
  runs[0].end();
  await forecasts.underWay(units[0]);
  const actual = units.map((unit) => unit.forecastsDue().length);
  assert.deepEqual(actual, [...Array.from({ length: REQUEST_ROWS_MAX }, () => 0), 1]);
  runs[1].end();
  await all;
});

test('forecasts that nothing waits for are requested together, as soon as one is awaited, or a run is full', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { runs, forecaster } = heldModel();
  const turns = new ForecastTurns(50);
  const [one, other] = [new RequestedForecasts(turns), new RequestedForecasts(turns)];
  const [a, b, c] = [unitOf(forecaster), unitOf(forecaster), unitOf(forecaster)];
  one.supplyLater([a], signal);
  t.mock.timers.tick(40);
  // A record of another unit may touch one again that waits for its turn.
  one.supplyLater([a, b], signal);
  other.supplyLater([c], signal);
  assert.ok(one.anyUnderWay && other.anyUnderWay);
  assert.equal(runs.length, 0);
  t.mock.timers.tick(10);
  const rowsOf = () => runs.map(({ rows }) => rows);
  assert.deepEqual(rowsOf(), [2, 1]);
  const [d, e] = [unitOf(forecaster), unitOf(forecaster)];
  one.supplyLater([d], signal);
  assert.notEqual(one.underWay(a), null);
  assert.deepEqual(rowsOf(), [2, 1]);
  const awaited = one.underWay(d);
  assert.deepEqual(rowsOf(), [2, 1, 1]);
  one.supplyLater([e], signal);
  const supplied = one.supply([e], signal);
  assert.deepEqual(rowsOf(), [2, 1, 1, 1]);
  t.mock.timers.tick(50);
  one.supplyLater(
    Array.from({ length: REQUEST_ROWS_MAX }, () => unitOf(forecaster)),
    signal,
  );
  assert.deepEqual(rowsOf(), [2, 1, 1, 1, REQUEST_ROWS_MAX]);
  for (const { end } of runs) end();
  await Promise.all([awaited, supplied]);
  assert.deepEqual(
    [a, b, c, d, e].flatMap((unit) => unit.forecastsDue()),
    [],
  );
});

test('more rows than may wait for the model are requested in their order, as soon as there is room', async () => {
  const { runs, forecaster } = heldModel();
  const forecasts = new RequestedForecasts();
  const full = FORECAST_ROWS_MAX / REQUEST_ROWS_MAX;
  const first = forecasts.supply([unitOf(forecaster, FORECAST_ROWS_MAX - 1)], signal);
  const second = forecasts.supply([unitOf(forecaster, 2)], signal);
  const third = forecasts.supply([unitOf(forecaster, 1)], signal);
  assert.equal(runs.length, full);
  runs[full - 1].end();
  await new Promise((resolve) => setImmediate(resolve));
  const actual = runs.slice(full).map(({ rows }) => rows);
  assert.deepEqual(actual, [2, 1]);
  for (const { end } of runs) end();
  await Promise.all([first, second, third]);
});

test('what waits for room behind a request that fails is requested all the same', async () => {
  const { runs, forecaster } = heldModel();
  const forecasts = new RequestedForecasts();
  const first = forecasts.supply([unitOf(forecaster, FORECAST_ROWS_MAX)], signal);
  const second = forecasts.supply([unitOf(forecaster)], signal);
  runs[0].fail(new Error('the model failed'));
  await assert.rejects(first, /the model failed/);
  runs.at(-1)!.end();
  await second;
});

test('a failure is thrown by every later call that needs the forecast, and nobody waits for one on its way', async () => {
  const { runs, forecaster } = heldModel();
  const forecasts = new RequestedForecasts();
  const unit = unitOf(forecaster);
  const other = unitOf(forecaster);
  const failing = forecasts.supply([unit], signal);
  forecasts.supply([other], signal).catch(() => undefined);
  runs[0].fail(new Error('the model failed'));
  await assert.rejects(failing, /the model failed/);
  await assert.rejects(forecasts.supply([unit], signal), /the model failed/);
  assert.equal(forecasts.underWay(unit), null);
  assert.equal(forecasts.underWay(other), null);
});
