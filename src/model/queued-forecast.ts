import assert from 'node:assert/strict';
import type { ForecastBatch } from '../forecast/forecaster.ts';
import { ServiceError } from '../service-error.ts';
import type { Model } from './catalog.ts';
import type { RunForecasts, RunRequest } from './inference-thread.ts';
import { rowsOf, type Segment } from './run-queue.ts';

/** A batch somebody waits for, its forecasts as far as they were made, and how to tell. Telling twice is harmless: the first time counts. */
export interface QueuedForecast {
  /** Requests of one key may share a run. */
  readonly key: string;
  /** Position of the model in the threads' list. */
  readonly model: number;
  readonly batch: ForecastBatch;
  /** The batch's horizon, rounded up to patches. */
  readonly horizonRun: number;
  readonly quantiles: 'all' | 'median';
  readonly theta: RunRequest['theta'];
  readonly result: Float32Array;
  rowsMissing: number;
  resolve(result: Float32Array): void;
  reject(reason: unknown): void;
}

/** Throws ServiceError `configuration` when the model does not decode that far in one pass. */
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

/**
 * Runs have a multiple of these rows, filled up with zeros: the runtime computes what is left over of four numbers by other instructions,
 * which round differently, and a forecast must not depend on its company.
 */
const RUN_ROWS_UNIT = 4;

/** Rows of several requests in one block; it is copied, since the block is given away to the thread. */
export function runOf(segments: readonly Segment<QueuedForecast>[]): RunRequest {
  const { model, quantiles, theta, horizonRun, batch } = segments[0].request;
  const { contextLength } = batch;
  const rows = Math.ceil(rowsOf(segments) / RUN_ROWS_UNIT) * RUN_ROWS_UNIT;
  const values = new Float32Array(rows * contextLength);
  let at = 0;
  for (const { request, firstRow, rows: taken } of segments) {
    values.set(request.batch.values.subarray(firstRow * contextLength, (firstRow + taken) * contextLength), at);
    at += taken * contextLength;
  }
  const members = batch.isGroup ? batch.rows : 0;
  return { model, rows, members, contextLength, horizon: horizonRun, values, quantiles, theta };
}

/** Gives the requests of a run their rows; a request whose last row this was is resolved, one with a bad row fails. */
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
    copyRows(request, firstRow, rows, run.forecasts, from);
    request.rowsMissing -= rows;
    if (request.rowsMissing === 0) request.resolve(request.result);
  }
}

/** Copies the steps a request asked for out of a run, whose horizon may be longer. */
function copyRows(
  { batch, horizonRun, result }: QueuedForecast,
  firstRow: number,
  rows: number,
  forecasts: Float32Array,
  runRow: number,
): void {
  const wanted = result.length / batch.rows;
  const made = (wanted / batch.horizon) * horizonRun;
  for (let row = 0; row < rows; row++) {
    const from = (runRow + row) * made;
    result.set(forecasts.subarray(from, from + wanted), (firstRow + row) * wanted);
  }
}
