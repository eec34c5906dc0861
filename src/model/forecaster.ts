import assert from 'node:assert/strict';
import type { ForecastBatch, Forecaster, ForecastLimits } from '../detector/forecast.ts';
import { ServiceError } from '../service-error.ts';
import type { Model } from './catalog.ts';
import { InferenceThread, type RunRequest, type RunResult } from './inference-thread.ts';
import type { ModelManifest } from './manifest.ts';
import { RunQueue, type Segment } from './run-queue.ts';

export interface ForecasterLimits {
  /** Inference threads; each holds a session of every model. */
  readonly threads: number;
  /** Rows that may wait for a thread. A request that does not fit is rejected as `overloaded`. */
  readonly queueRowsMax?: number;
  /** Rows of one run of the graph. */
  readonly runRowsMax?: number;
}

export interface QuantileForecast {
  readonly levels: readonly number[];
  /** `rows * horizon * levels.length`, row-major, ascending along the last axis, always finite. */
  readonly values: Float32Array;
}

/** A model that forecasts. The values of a batch must not change before its promise is settled. */
export interface ModelForecaster extends Forecaster {
  readonly model: Model;
  /** As `forecast`, with every quantile of the model. */
  forecastQuantiles(batch: ForecastBatch, signal?: AbortSignal): Promise<QuantileForecast>;
}

/** Sums since the start. */
export interface ForecasterStats {
  readonly threads: number;
  /** Threads that failed and were replaced. */
  readonly threadsReplaced: number;
  readonly rowsWaiting: number;
  readonly runs: number;
  readonly forecasts: number;
  /** Time spent inside the graphs, by the clock and by the threads' processor time. */
  readonly runMs: number;
  readonly cpuMs: number;
}

interface Request {
  readonly key: string;
  readonly model: number;
  readonly batch: ForecastBatch;
  readonly horizonRun: number;
  readonly quantiles: 'all' | 'median';
  readonly result: Float32Array;
  rowsMissing: number;
  /** Settling twice is harmless: the first one counts. */
  resolve(result: Float32Array): void;
  reject(reason: unknown): void;
}

/** 32 MiB of values at context 512. */
const QUEUE_ROWS_MAX = 16_384;
const RUN_ROWS_MAX = 32;
/** Below this a run costs more for each row; work for idle threads is not cut finer. */
const RUN_ROWS_MIN = 8;
/** A thread that runs gets its next run in advance, so that it does not wait for a busy main thread. */
const RUNS_PER_THREAD_MAX = 2;

/**
 * Loads the models into `threads` inference threads.
 * Throws ServiceError `model-invalid` when a graph cannot be loaded or does not take and give what its manifest says.
 */
export async function startForecasters(models: readonly Model[], limits: ForecasterLimits): Promise<Forecasters> {
  const forecasters = new Forecasters(models, limits);
  await forecasters.start();
  return forecasters;
}

/**
 * Forecasters of several models that share inference threads. Rows that wait for the same model, context length and horizon
 * (rounded up to patches) are merged into one run as soon as a thread is free; nobody waits for company.
 *
 * A thread that fails is replaced: the requests in its runs are rejected, all others go on. If its replacement
 * cannot be started either and no thread is left, every request is rejected from then on.
 */
export class Forecasters {
  readonly #models: readonly Model[];
  readonly #limits: Required<ForecasterLimits>;
  readonly #queue: RunQueue<Request>;
  readonly #threads = new Set<InferenceThread>();
  readonly #sums = { threadsReplaced: 0, runs: 0, forecasts: 0, runMs: 0, cpuMs: 0 };
  #starting = 0;
  #dispatching = false;
  #ended: Error | null = null;
  #onDrained: (() => void) | null = null;
  #closing: Promise<void> | null = null;

  constructor(models: readonly Model[], limits: ForecasterLimits) {
    assert(limits.threads >= 1, 'there is an inference thread');
    this.#models = models;
    this.#limits = { queueRowsMax: QUEUE_ROWS_MAX, runRowsMax: RUN_ROWS_MAX, ...limits };
    this.#queue = new RunQueue(this.#limits.queueRowsMax);
  }

  async start(): Promise<void> {
    const starts = Array.from({ length: this.#limits.threads }, () => this.#startThread());
    const failed = (await Promise.allSettled(starts)).find((start) => start.status === 'rejected');
    if (failed === undefined) return;
    await this.close();
    throw new ServiceError('model-invalid', (failed.reason as Error).message, { cause: failed.reason });
  }

  /** Throws ServiceError `model-unknown` for a model that was not loaded. */
  forecaster(name: string): ModelForecaster {
    const index = this.#models.findIndex((model) => model.name === name);
    if (index < 0) throw new ServiceError('model-unknown', `model ${JSON.stringify(name)} is not loaded`);
    const model = this.#models[index];
    const { context, contextBuckets, horizonMax, quantiles: levels } = model.manifest;
    return {
      model,
      limits: { context, contextBuckets, horizonMax } satisfies ForecastLimits,
      forecast: (batch, signal) => this.#submit(index, batch, 'median', signal),
      forecastQuantiles: async (batch, signal) => ({ levels, values: await this.#submit(index, batch, 'all', signal) }),
    };
  }

  stats(): ForecasterStats {
    return { threads: this.#threads.size, rowsWaiting: this.#queue.rows, ...this.#sums };
  }

  /** Takes nothing more, finishes what was taken, and ends the threads. */
  close(): Promise<void> {
    this.#ended ??= new Error('the forecasters are closed');
    this.#closing ??= this.#drainAndStop();
    return this.#closing;
  }

  async #drainAndStop(): Promise<void> {
    if (!this.#isDrained()) {
      await new Promise<void>((resolve) => {
        this.#onDrained = resolve;
      });
    }
    await Promise.all([...this.#threads].map((thread) => thread.stop()));
    this.#threads.clear();
  }

  #isDrained(): boolean {
    return this.#queue.rows === 0 && this.#starting === 0 && [...this.#threads].every((thread) => thread.runs === 0);
  }

  async #submit(
    model: number,
    batch: ForecastBatch,
    quantiles: 'all' | 'median',
    signal: AbortSignal | undefined,
  ): Promise<Float32Array> {
    const { name, manifest } = this.#models[model];
    checkBatch(batch, name, manifest);
    signal?.throwIfAborted();
    if (this.#ended !== null) throw this.#ended;
    const horizonRun = Math.ceil(batch.horizon / manifest.patch) * manifest.patch;
    const key = `${model} ${batch.contextLength} ${horizonRun} ${quantiles}`;
    const result = new Float32Array(batch.rows * batch.horizon * (quantiles === 'all' ? manifest.quantiles.length : 1));
    if (batch.rows === 0) return result;
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array>();
    const request: Request = {
      key,
      model,
      batch,
      horizonRun,
      quantiles,
      result,
      rowsMissing: batch.rows,
      resolve,
      reject,
    };
    if (!this.#queue.add(request)) throw this.#overloaded(batch.rows);
    const onAbort = () => this.#fail(request, signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#dispatchSoon();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #overloaded(rows: number): ServiceError {
    const { rows: waiting, rowsMax } = this.#queue;
    const text = `${rows} rows do not fit into the forecast queue: ${waiting} of at most ${rowsMax} (queueRowsMax) wait`;
    return new ServiceError('overloaded', text, { retryable: rows <= rowsMax });
  }

  /** After the calls of this turn, so that requests made together are run together. */
  #dispatchSoon(): void {
    if (this.#dispatching) return;
    this.#dispatching = true;
    queueMicrotask(() => {
      this.#dispatching = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    const { runRowsMax } = this.#limits;
    const idle = [...this.#threads].filter((thread) => thread.runs === 0);
    for (let thread = idle.pop(); thread !== undefined && this.#queue.rows > 0; thread = idle.pop()) {
      const share = Math.ceil(this.#queue.ready(1) / (idle.length + 1));
      this.#run(thread, this.#queue.take(1, Math.min(runRowsMax, Math.max(RUN_ROWS_MIN, share))));
    }
    // A full run would gain nothing from waiting any longer.
    for (const thread of this.#threads) {
      if (thread.runs >= RUNS_PER_THREAD_MAX || this.#queue.ready(runRowsMax) === 0) continue;
      this.#run(thread, this.#queue.take(runRowsMax, runRowsMax));
    }
    if (this.#isDrained()) this.#onDrained?.();
  }

  #run(thread: InferenceThread, segments: readonly Segment<Request>[]): void {
    thread
      .run(runOf(segments))
      .then(
        (result) => this.#deliver(segments, result),
        (error) => {
          for (const { request } of segments) this.#fail(request, error);
        },
      )
      .finally(() => this.#dispatch());
  }

  #deliver(segments: readonly Segment<Request>[], run: RunResult): void {
    this.#sums.runs += 1;
    this.#sums.runMs += run.runMs;
    this.#sums.cpuMs += run.cpuMs;
    let runRow = 0;
    for (const { request, firstRow, rows } of segments) {
      const from = runRow;
      const bad = run.badRows.find(({ row }) => row >= from && row < from + rows);
      if (bad !== undefined) this.#fail(request, new Error(`row ${firstRow + bad.row - from}: ${bad.reason}`));
      copyRows(request, firstRow, rows, run.forecasts, from);
      request.rowsMissing -= rows;
      if (request.rowsMissing === 0) request.resolve(request.result);
      runRow += rows;
    }
    this.#sums.forecasts += runRow;
  }

  #fail(request: Request, reason: unknown): void {
    this.#queue.remove(request);
    request.reject(reason);
    this.#dispatchSoon();
  }

  async #startThread(): Promise<void> {
    this.#starting += 1;
    try {
      const thread = await InferenceThread.start(this.#models, () => {
        this.#threads.delete(thread);
        this.#sums.threadsReplaced += 1;
        this.#startThread().catch((error) => this.#giveUp(error));
      });
      this.#threads.add(thread);
    } finally {
      this.#starting -= 1;
      this.#dispatchSoon();
    }
  }

  #giveUp(cause: Error): void {
    if (this.#threads.size > 0 || this.#starting > 0) return;
    this.#ended ??= new Error(`no inference thread is left: ${cause.message}`, { cause });
    while (this.#queue.rows > 0) for (const { request } of this.#queue.take(1, 1)) this.#fail(request, this.#ended);
  }
}

function checkBatch(batch: ForecastBatch, name: string, manifest: ModelManifest): void {
  const { rows, contextLength, horizon, values } = batch;
  assert(manifest.contextBuckets.includes(contextLength), `context length ${contextLength} is not one of the model's`);
  assert(values.length === rows * contextLength, 'values are rows * contextLength');
  assert(Number.isInteger(horizon) && horizon >= 1, 'a forecast has a horizon');
  if (horizon > manifest.horizonMax) {
    const text = `horizon ${horizon} is beyond horizon_max ${manifest.horizonMax} of model ${name}`;
    throw new ServiceError('configuration', text);
  }
}

/** Rows of several requests in one block; it is copied, since the block is given away to the thread. */
function runOf(segments: readonly Segment<Request>[]): RunRequest {
  const { model, quantiles, horizonRun, batch } = segments[0].request;
  const { contextLength } = batch;
  const rows = segments.reduce((sum, segment) => sum + segment.rows, 0);
  const values = new Float32Array(rows * contextLength);
  let at = 0;
  for (const { request, firstRow, rows: taken } of segments) {
    values.set(request.batch.values.subarray(firstRow * contextLength, (firstRow + taken) * contextLength), at);
    at += taken * contextLength;
  }
  return { model, rows, contextLength, horizon: horizonRun, values, quantiles };
}

/** Copies the steps a request asked for out of a run, whose horizon may be longer. */
function copyRows(request: Request, firstRow: number, rows: number, forecasts: Float32Array, runRow: number): void {
  const { batch, horizonRun, result } = request;
  const wanted = result.length / batch.rows;
  const made = (wanted / batch.horizon) * horizonRun;
  for (let row = 0; row < rows; row++) {
    const from = (runRow + row) * made;
    result.set(forecasts.subarray(from, from + wanted), (firstRow + row) * wanted);
  }
}
