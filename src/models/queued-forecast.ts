import assert from 'node:assert/strict';
import type { ForecastBatch } from '../forecasting/forecaster.ts';
import { ServiceError } from '../ops/service-error.ts';
import type { Model } from './catalog.ts';
import type { RunForecasts, RunRequest } from './inference-thread.ts';
import { rowsOf, type Segment } from './run-queue.ts';

/** A batch in the queue, with its partial result and its promise. Settling twice has no effect. */
export interface QueuedForecast {
  /** Forecasts of one key may share a run. */
  readonly key: string;
  readonly owner: string;
  /** Index of the model in the threads' list. */
  readonly model: number;
  readonly batch: ForecastBatch;
  /** The batch's horizon, rounded up to patches. */
  readonly horizonRun: number;
  readonly quantiles: 'all' | 'median';
  readonly theta: RunRequest['theta'];
  /** Runs are filled up to a multiple of so many rows. */
  readonly rowsUnit: number;
  readonly result: Float32Array;
  rowsMissing: number;
  resolve(result: Float32Array): void;
  reject(reason: unknown): void;
}

/** Throws ServiceError `configuration` for a horizon beyond the model's `horizon_max`. */
export function checkHorizon(horizon: number, { name, manifest }: Model): void {
  assert(Number.isInteger(horizon) && horizon >= 1, 'a forecast has a horizon');
  if (horizon <= manifest.horizonMax) return;
  const text = `horizon ${horizon} is beyond horizon_max ${manifest.horizonMax} of model ${name}`;
  throw new ServiceError('configuration', text);
}

export function checkBatch({ rows, contextLength, horizon, values, isGroup }: ForecastBatch, model: Model): void {
  const { contextBuckets, membersMax = 0 } = model.manifest;
  assert(!isGroup || rows <= membersMax, `model ${model.name} forecasts at most ${membersMax} series together`);
  assert(contextBuckets.includes(contextLength), `context length ${contextLength} is not one of the model's`);
  assert(values.length === rows * contextLength, 'values are rows * contextLength');
  checkHorizon(horizon, model);
}

/** One run of several requests, filled up with its first row. Values are copied: the buffer is transferred. */
export function runOf(segments: readonly Segment<QueuedForecast>[]): RunRequest {
  const { model, quantiles, theta, horizonRun, rowsUnit, batch } = segments[0].request;
  const { contextLength } = batch;
  const rows = Math.ceil(rowsOf(segments) / rowsUnit) * rowsUnit;
  const values = new Float32Array(rows * contextLength);
  let at = 0;
  for (const { request, firstRow, rows: own } of segments) {
    values.set(request.batch.values.subarray(firstRow * contextLength, (firstRow + own) * contextLength), at);
    at += own * contextLength;
  }
  for (; at < values.length; at += contextLength) values.copyWithin(at, 0, contextLength);
  const members = batch.isGroup ? batch.rows : 0;
  return { model, rows, members, contextLength, horizon: horizonRun, values, quantiles, theta };
}

/** Copies the rows of a run to their requests. Resolves complete requests; fails those with a bad row. */
export function deliver(
  segments: readonly Segment<QueuedForecast>[],
  run: RunForecasts,
  fail: (request: QueuedForecast, reason: Error) => void,
): void {
  let runRow = 0;
  for (const { request, firstRow, rows } of segments) {
    const from = runRow;
    runRow += rows;
    const bad = run.badRows.find(({ row }) => row >= from && row < runRow);
    if (bad !== undefined) fail(request, new Error(`row ${firstRow + bad.row - from}: ${bad.reason}`));
    copyRows({ request, firstRow, rows }, run.forecasts, from);
    request.rowsMissing -= rows;
    if (request.rowsMissing === 0) request.resolve(request.result);
  }
}

/** Copies the requested steps out of a run, whose horizon may be longer. */
function copyRows({ request, firstRow, rows }: Segment<QueuedForecast>, forecasts: Float32Array, runRow: number): void {
  const { batch, horizonRun, result } = request;
  const wanted = result.length / batch.rows;
  const made = (wanted / batch.horizon) * horizonRun;
  for (let row = 0; row < rows; row++) {
    const from = (runRow + row) * made;
    result.set(forecasts.subarray(from, from + wanted), (firstRow + row) * wanted);
  }
}
