import assert from 'node:assert/strict';
import type { ForecastBatch, QuantileForecaster } from '../forecasting/forecaster.ts';
import type { ForecastSums } from '../ops/metrics.ts';
import { ServiceError } from '../ops/service-error.ts';
import type { Model } from './catalog.ts';
import type { InferenceThread, RunRequest } from './inference-thread.ts';
import { ROWS_UNIT } from './manifest.ts';
import { checkBatch, checkHorizon, deliver, type QueuedForecast, runOf } from './queued-forecast.ts';
import { currentOwner } from './request-owner.ts';
import { RunQueue, rowsOf, type Segment } from './run-queue.ts';
import { spreadRuns } from './run-spread.ts';
import { ThreadPool } from './thread-pool.ts';
import type { TunedWeights } from './tuned-weights.ts';
import { weightCount } from './tuning-graphs.ts';

export interface ForecasterLimits {
  /** Inference threads; each holds a session of every model. */
  readonly threads: number;
  /** Models that each thread opens on first use, without a check by test runs: somebody has made it. */
  readonly rare?: readonly Model[];
  /** Length of the queue, in rows. A request that does not fit is rejected as `overloaded`. */
  readonly queueRowsMax?: number;
  /** Most rows of one run; fewer for long contexts (RUN_VALUES_MAX). */
  readonly runRowsMax?: number;
}

/** A model as a forecaster. The values of a batch must not change before its promise is settled. */
interface ModelForecaster extends QuantileForecaster {
  readonly model: Model;
}

export interface ForecasterStats extends ForecastSums {
  readonly threads: number;
}

interface Submission {
  readonly index: number;
  readonly batch: ForecastBatch;
  readonly quantiles: 'all' | 'median';
  readonly weights: TunedWeights | null;
}

/** 128 MiB of values at context 512. */
const QUEUE_ROWS_MAX = 65_536;
const RUN_ROWS_MAX = 192;
/**
 * Values of one run: 48 rows of context 512 take some 10 ms, and the network of detection 4. Runs of 32 rows take 1.07
 * of its time a row (tsmodel-1: 1.04), of 64 rows the same; short contexts need more rows.
 */
const RUN_VALUES_MAX = 24_576;
/** Smaller runs cost more per row. Work for idle threads is not cut finer. */
const RUN_ROWS_MIN = 8;
/**
 * Runs in flight per thread. The next run is submitted in advance, so that a thread does not wait for a busy main
 * thread.
 */
const RUNS_PER_THREAD_MAX = 2;
/** Owners of requests within this time share the threads: then runs are short and none is submitted in advance. */
const SHARED_MS = 1_000;
/** Part of a full run, while owners share the threads. A new request waits for one such run at most. */
const SHARED_RUN = 0.5;

/**
 * Forecasters of several models that share inference threads. Queued rows of the same model, context length and horizon
 * (rounded up to patches) are merged into one run when a thread is idle. No request waits to fill a run. A group is a
 * run of its own.
 *
 * A failed run rejects its requests. If a thread ends, the requests of its runs are rejected as `internal`, and another
 * one takes its place. Queued requests wait for it, unless no thread is left and none can be started.
 */
export class Forecasters {
  readonly #models: readonly Model[];
  readonly #limits: Required<ForecasterLimits>;
  readonly #queue: RunQueue<QueuedForecast>;
  readonly #sums = { runs: 0, forecasts: 0, runMs: 0, cpuMs: 0 };
  #pool: ThreadPool | null = null;
  /** Time of each owner's last request, of the last second. */
  readonly #requestedMs = new Map<string, number>();
  #groups = 0;
  #dispatching = false;
  #ended: Error | null = null;
  #onDrained: (() => void) | null = null;
  #closing: Promise<void> | null = null;

  private constructor(models: readonly Model[], limits: ForecasterLimits) {
    assert(limits.threads >= 1, 'there is an inference thread');
    this.#models = models;
    this.#limits = { queueRowsMax: QUEUE_ROWS_MAX, runRowsMax: RUN_ROWS_MAX, rare: [], ...limits };
    const { queueRowsMax, runRowsMax } = this.#limits;
    const fullRun = ({ contextLength }: ForecastBatch) =>
      Math.min(runRowsMax, Math.max(RUN_ROWS_MIN, Math.floor(RUN_VALUES_MAX / contextLength)));
    this.#queue = new RunQueue(queueRowsMax, fullRun);
  }

  /**
   * Loads the models into `threads` inference threads.
   * Throws ServiceError `model-invalid` when a graph cannot be loaded or contradicts its manifest; that of a rare model
   * fails its forecasts.
   */
  static async start(models: readonly Model[], limits: ForecasterLimits): Promise<Forecasters> {
    const unique = new Map(models.map((model) => [model.name, model]));
    const forecasters = new Forecasters([...unique.values()], limits);
    await forecasters.#start();
    return forecasters;
  }

  /**
   * The forecaster of a loaded model, for forecasts of `horizon` steps.
   * Throws ServiceError `model-unknown` for a model that was not loaded, `configuration` for a horizon beyond its
   * `horizon_max`.
   * @param weights tuned from the model; null: its own. All weights share the sessions; a run uses one of them. Tuned
   *   weights whose digest is that of `source` are the model's own: they use its own graph, so that forecasts are equal
   *   to the bit.
   */
  forecasterFor(name: string, horizon: number, weights: TunedWeights | null = null): ModelForecaster {
    const index = this.#models.findIndex((model) => model.name === name);
    if (index < 0) throw new ServiceError('model-unknown', `model ${JSON.stringify(name)} is not loaded`);
    const model = this.#models[index];
    checkHorizon(horizon, model);
    const { tuning, context, contextBuckets, horizonMax, membersMax, quantiles: levels } = model.manifest;
    if (weights !== null) assert(tuning !== null && weights.theta.length === weightCount(tuning), 'the weights fit');
    const tuned = weights?.digest === tuning?.source.sha256 ? null : weights;
    const submit = (batch: ForecastBatch, quantiles: 'all' | 'median', signal?: AbortSignal) =>
      this.#submit({ index, batch, quantiles, weights: tuned }, signal);
    return {
      model,
      limits: { context, contextBuckets, horizonMax, ...(membersMax && { membersMax }) },
      forecast: (batch, signal) => submit(batch, 'median', signal),
      forecastQuantiles: async (batch, signal) => ({ levels, values: await submit(batch, 'all', signal) }),
    };
  }

  /** Why there are fewer threads than there should be; null when there are as many. */
  get trouble(): string | null {
    return this.#pool?.trouble ?? null;
  }

  get #threads(): readonly InferenceThread[] {
    return this.#pool?.threads ?? [];
  }

  stats(): ForecasterStats {
    return { threads: this.#threads.length, rowsWaiting: this.#queue.rows, ...this.#sums };
  }

  /** Rejects new requests, finishes accepted ones, and ends the threads. */
  close(): Promise<void> {
    this.#ended ??= new Error('the forecasters are closed');
    this.#closing ??= this.#drainAndStop();
    return this.#closing;
  }

  async #start(): Promise<void> {
    const models = { models: this.#models, rare: new Set(this.#limits.rare) };
    this.#pool = await ThreadPool.start(models, this.#limits.threads, {
      onAdded: () => this.#dispatch(),
      onNone: (error) => this.#rejectQueued(error),
    });
  }

  async #drainAndStop(): Promise<void> {
    if (!this.#isDrained()) {
      await new Promise<void>((resolve) => {
        this.#onDrained = resolve;
      });
    }
    await this.#pool?.close();
  }

  #isDrained(): boolean {
    return this.#queue.rows === 0 && this.#threads.every((thread) => thread.runs === 0);
  }

  async #submit(
    { index, batch, quantiles, weights }: Submission,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array> {
    const model = this.#models[index];
    const { patch, median, quantiles: levels } = model.manifest;
    checkBatch(batch, model);
    signal?.throwIfAborted();
    if (this.#ended !== null) throw this.#ended;
    const horizonRun = Math.ceil(batch.horizon / patch) * patch;
    const shared = `${index} ${batch.contextLength} ${horizonRun} ${quantiles} ${weights?.digest}`;
    const key = batch.isGroup ? `${shared} group ${this.#groups++}` : shared;
    const result = new Float32Array(batch.rows * batch.horizon * (quantiles === 'all' ? levels.length : 1));
    if (batch.rows === 0) return result;
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array>();
    const settle = { rowsMissing: batch.rows, resolve, reject };
    const theta: RunRequest['theta'] = weights?.theta ?? null;
    const owner = currentOwner();
    this.#requestedMs.set(owner, performance.now());
    const rowsUnit = quantiles === 'median' && weights === null && median !== null ? median.rowsUnit : ROWS_UNIT;
    const request = { key, owner, model: index, batch, horizonRun, quantiles, theta, rowsUnit, result, ...settle };
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
    const full = `${waiting} of at most ${rowsMax} (queueRowsMax) wait`;
    const text = `${rows} rows do not fit into the forecast queue: ${full}`;
    return new ServiceError('overloaded', text, { retryable: rows <= rowsMax });
  }

  /** In a microtask, so that requests of the same turn of the event loop are merged. */
  #dispatchSoon(): void {
    if (this.#dispatching) return;
    this.#dispatching = true;
    queueMicrotask(() => {
      this.#dispatching = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    const shared = this.#isShared();
    const idle = this.#threads.filter((thread) => thread.runs === 0);
    const isSmall = this.#queue.fullRuns <= idle.length * (shared ? SHARED_RUN : 1);
    if (isSmall && idle.length === this.#threads.length) {
      const spread = spreadRuns(this.#queue, idle.length, RUN_ROWS_MIN);
      for (const [i, runs] of spread.entries()) for (const run of runs) this.#run(idle[i], run);
    }
    for (let thread = idle.pop(); thread !== undefined && this.#queue.rows > 0; thread = idle.pop()) {
      const share = Math.ceil(this.#queue.rowsNext / (idle.length + 1));
      const rowsMax = shared ? Math.min(share, Math.ceil(this.#queue.fullNext * SHARED_RUN)) : share;
      this.#run(thread, this.#queue.pop(Math.max(RUN_ROWS_MIN, rowsMax)));
    }
    // A full run gains nothing by waiting. While there are full runs no thread is idle, so other lines have their turn
    // here, too.
    for (const thread of shared ? [] : this.#threads) {
      if (thread.runs < RUNS_PER_THREAD_MAX && this.#queue.hasFullRun()) this.#run(thread, this.#queue.pop());
    }
    if (this.#isDrained()) this.#onDrained?.();
  }

  /** True if more than one owner requested forecasts within the last second. */
  #isShared(): boolean {
    if (this.#requestedMs.size < 2) return false;
    const sinceMs = performance.now() - SHARED_MS;
    for (const [owner, requestedMs] of this.#requestedMs) if (requestedMs < sinceMs) this.#requestedMs.delete(owner);
    return this.#requestedMs.size > 1 || (this.#requestedMs.size === 1 && this.#queue.owners > 1);
  }

  #run(thread: InferenceThread, segments: readonly Segment<QueuedForecast>[]): void {
    const failAll = (error: Error) => {
      for (const { request } of segments) this.#fail(request, error);
    };
    thread
      .run(runOf(segments))
      .then((result) => {
        if (result.kind === 'failed') return failAll(new Error(result.reason));
        this.#sums.runs += 1;
        this.#sums.forecasts += rowsOf(segments);
        this.#sums.runMs += result.runMs;
        this.#sums.cpuMs += result.cpuMs;
        deliver(segments, result, (request, reason) => this.#fail(request, reason));
      }, failAll)
      .finally(() => this.#dispatch());
  }

  /** Removes the queued rows of the request. The result of rows in flight is ignored. */
  #fail(request: QueuedForecast, reason: unknown): void {
    this.#queue.remove(request);
    request.reject(reason);
    this.#dispatchSoon();
  }

  #rejectQueued(error: Error): void {
    for (const request of this.#queue.clear()) request.reject(error);
    this.#dispatchSoon();
  }
}
