import type { SeriesDetector } from '../../detection/series/series-detector.ts';
import {
  type ForecastBatch,
  type Forecaster,
  hasQuantiles,
  type QuantileForecaster,
} from '../../forecasting/forecaster.ts';
import { deviationOfQuantiles } from '../../forecasting/quantile-spread.ts';
import type { Scorable } from '../unit/scorable.ts';

/** Detectors whose forecasts come from one batch of the model. */
export interface DueForecasts {
  readonly forecaster: Forecaster;
  readonly contextLength: number;
  readonly horizon: number;
  /** Set where the quantiles of the model are wanted, too. */
  readonly quantiles: ((batch: ForecastBatch, signal: AbortSignal) => Promise<Supply>) | null;
  readonly detectors: SeriesDetector[];
}

/**
 * Supplies forecasts to those detectors of a batch that wait for one. Contexts are copied before it returns. Rejects
 * when the model fails or `signal` aborts.
 */
export async function supplyBatch(
  { forecaster, contextLength, horizon, quantiles, detectors: requested }: DueForecasts,
  signal: AbortSignal,
): Promise<void> {
  // One that started over, or was forgotten, in the meantime needs no forecast.
  const detectors = requested.filter(({ forecastDue }) => forecastDue);
  const rows = detectors.length;
  if (rows === 0) return;
  const values = new Float32Array(rows * contextLength);
  for (let row = 0; row < rows; row++) detectors[row].context(values, row * contextLength, contextLength);
  const batch = { rows, contextLength, values, horizon };
  const supply = quantiles === null ? await medianForecasts(forecaster, batch, signal) : await quantiles(batch, signal);
  for (let row = 0; row < rows; row++) {
    if (detectors[row].forecastDue) supply(detectors[row], row);
  }
}

type Supply = (detector: SeriesDetector, row: number) => void;

async function medianForecasts(forecaster: Forecaster, batch: ForecastBatch, signal: AbortSignal): Promise<Supply> {
  const medians = await forecaster.forecast(batch, signal);
  return (detector, row) => detector.forecasted(medians, row * batch.horizon);
}

/** As `medianForecasts`, with its deviation by the model's quantiles. */
function quantileForecasts(forecaster: QuantileForecaster) {
  return async (batch: ForecastBatch, signal: AbortSignal): Promise<Supply> => {
    const { horizon } = batch;
    const { levels, values } = await forecaster.forecastQuantiles(batch, signal);
    const median = levels.indexOf(0.5);
    return (detector, row) => {
      const start = row * horizon * levels.length;
      const medians = Float32Array.from({ length: horizon }, (_, k) => values[start + k * levels.length + median]);
      detector.forecasted(medians, 0, deviationOfQuantiles(values, start, { levels, horizon }));
    };
  };
}

interface DueOptions {
  readonly rowsMax: number;
  /** Detectors that have requested theirs. */
  readonly except: ReadonlyMap<SeriesDetector, unknown>;
}

/** Batches of forecasts that the detectors of `units` wait for. A batch shares model, context length and horizon. */
export function dueForecasts(units: readonly Scorable[], { rowsMax, except }: DueOptions): DueForecasts[] {
  const batches: DueForecasts[] = [];
  const open = new Map<Forecaster, Map<number, DueForecasts>>();
  for (const unit of units) {
    const { forecaster, config } = unit.loaded;
    let byShape = open.get(forecaster);
    if (byShape === undefined) {
      byShape = new Map();
      open.set(forecaster, byShape);
    }
    for (const detector of unit.forecastsDue()) {
      if (except.has(detector)) continue;
      if (!detector.hasContext()) {
        detector.forecasted(null);
        continue;
      }
      const contextLength = detector.contextLength(forecaster.limits.contextBuckets);
      const horizon = config.settings.h;
      const quantiles = detector.wantsQuantiles && hasQuantiles(forecaster) ? quantileForecasts(forecaster) : null;
      const shape = (contextLength * 65_536 + horizon) * 2 + (quantiles === null ? 0 : 1);
      let batch = byShape.get(shape);
      if (batch === undefined || batch.detectors.length >= rowsMax) {
        batch = { forecaster, contextLength, horizon, quantiles, detectors: [] };
        byShape.set(shape, batch);
        batches.push(batch);
      }
      batch.detectors.push(detector);
    }
  }
  return batches;
}
