import { forecastedPositions, stepOfHorizon } from '../calibration/cutoff-grid.ts';
import { judge, type Yardstick } from '../calibration/threshold.ts';
import type { ForecastValue } from '../event/open/event-row.ts';
import { keptValue } from '../memory/kept-value.ts';
import { standingForecast } from '../memory/open-window.ts';
import type { SeriesRings } from '../memory/series-rings.ts';

interface EarlierSeries {
  readonly rings: SeriesRings;
  readonly origin: number;
  readonly windowStart: number;
  readonly residualCount: number;
  yardstick(): Yardstick;
}

/**
 * The value at a position of the open window, or of the one that closed last, with its forecast; null if it is
 * missing, or its forecast is not kept. Where the window has closed the forecast is known from its residual of 16 bits,
 * and the interval is that of the next window.
 */
export function earlierValue(series: EarlierSeries, position: number): ForecastValue | null {
  const { rings, origin } = series;
  const { settings, threshold, least } = rings.layout;
  if (position < rings.contextStart) return null;
  const distance = rings.distanceAt(position);
  const forecast = forecastOf(series, position, distance);
  if (Number.isNaN(forecast)) return null;
  const expected = origin + forecast;
  const step = stepOfHorizon(position, rings.grid.first, settings);
  const { lo, hi } = judge(distance - forecast, step, threshold, series.yardstick());
  const bounds = { lo: Math.max(least, expected + lo), hi: Math.max(least, expected + hi) };
  return { value: keptValue(origin, distance), expected: Math.max(least, expected), ...bounds };
}

function forecastOf({ rings, windowStart, residualCount }: EarlierSeries, position: number, distance: number): number {
  const { settings, residualCapacity } = rings.layout;
  if (Number.isNaN(distance)) return Number.NaN;
  if (position >= windowStart) return standingForecast(rings, windowStart, position);
  const index = forecastedPositions(position, rings.grid);
  const isForecast = forecastedPositions(position + 1, rings.grid) > index;
  if (!isForecast || position < windowStart - settings.detectionSize) return Number.NaN;
  const back = forecastedPositions(windowStart, rings.grid) - index;
  return back > residualCapacity ? Number.NaN : distance - rings.residualAt(residualCount - back);
}
