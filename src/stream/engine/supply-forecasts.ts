import type { SeriesDetector } from '../../detector/series-detector.ts';
import type { Forecaster } from '../../forecast/forecaster.ts';
import type { DetectionUnit } from './detection-unit.ts';

/** Most contexts of a partition that wait for the model at a time. Bounds their memory and the queue of the model. */
export const FORECAST_ROWS_MAX = 1_024;

/** Detectors whose forecasts come from one batch of the model. */
interface DueForecasts {
  readonly forecaster: Forecaster;
  readonly contextLength: number;
  readonly horizon: number;
  readonly detectors: SeriesDetector[];
}

/**
 * Supplies forecasts to every detector of `units` that waits for one. A batch shares model, context length and horizon.
 */
export async function supplyForecasts(units: readonly DetectionUnit[], signal: AbortSignal): Promise<void> {
  for (const wave of inWaves(dueForecasts(units))) await Promise.all(wave.map((batch) => supplyBatch(batch, signal)));
}

async function supplyBatch(
  { forecaster, contextLength, horizon, detectors }: DueForecasts,
  signal: AbortSignal,
): Promise<void> {
  const rows = detectors.length;
  const values = new Float32Array(rows * contextLength);
  for (let row = 0; row < rows; row++) detectors[row].context(values, row * contextLength, contextLength);
  const medians = await forecaster.forecast({ rows, contextLength, values, horizon }, signal);
  for (let row = 0; row < rows; row++) {
    // A detector that started over in the meantime needs no forecast.
    if (detectors[row].forecastDue) detectors[row].forecasted(medians, row * horizon);
  }
}

/** Batches that together have at most FORECAST_ROWS_MAX rows. */
function inWaves(batches: readonly DueForecasts[]): DueForecasts[][] {
  const waves: DueForecasts[][] = [];
  let rows = Number.POSITIVE_INFINITY;
  for (const batch of batches) {
    rows += batch.detectors.length;
    if (rows > FORECAST_ROWS_MAX) {
      waves.push([]);
      rows = batch.detectors.length;
    }
    waves.at(-1)?.push(batch);
  }
  return waves;
}

function dueForecasts(units: readonly DetectionUnit[]): DueForecasts[] {
  const batches: DueForecasts[] = [];
  const open = new Map<Forecaster, Map<number, DueForecasts>>();
  for (const unit of units) {
    const { forecaster, config } = unit.bound;
    let byShape = open.get(forecaster);
    if (byShape === undefined) {
      byShape = new Map();
      open.set(forecaster, byShape);
    }
    for (const detector of unit.forecastsDue()) {
      if (!detector.hasContext()) {
        detector.forecasted(null);
        continue;
      }
      const contextLength = detector.contextLength(forecaster.limits.contextBuckets);
      const horizon = config.settings.h;
      const shape = contextLength * 65_536 + horizon;
      let batch = byShape.get(shape);
      if (batch === undefined || batch.detectors.length >= FORECAST_ROWS_MAX) {
        batch = { forecaster, contextLength, horizon, detectors: [] };
        byShape.set(shape, batch);
        batches.push(batch);
      }
      batch.detectors.push(detector);
    }
  }
  return batches;
}
