import assert from 'node:assert/strict';
import type { ForecastBatch, QuantileForecaster } from '../forecast/forecaster.ts';
import { ServiceError } from '../service-error.ts';
import type { Model } from './catalog.ts';
import { InferenceThread, type RunRequest } from './inference-thread.ts';
import { checkBatch, checkHorizon, deliver, type QueuedForecast, runOf } from './queued-forecast.ts';
import { RunQueue, rowsOf, type Segment } from './run-queue.ts';
import type { TunedWeights } from './tuned-weights.ts';
import { weightCount } from './tuning-graphs.ts';

export interface ForecasterLimits {
  /** Inference threads; each holds a session of every model. */
  readonly threads: number;
  /** Rows that may wait for a thread. A request that does not fit is rejected as `overloaded`. */
  readonly queueRowsMax?: number;
  /** Rows of one run of the graph; fewer where contexts are long (RUN_VALUES_MAX). */
  readonly runRowsMax?: number;
}

/** A model that forecasts. The values of a batch must not change before its promise is settled. */
export interface ModelForecaster extends QuantileForecaster {
  readonly model: Model;
}

/** Sums since the start, but for what waits now. */
export interface ForecasterStats {
  readonly threads: number;
  readonly rowsWaiting: number;
  readonly runs: number;
  readonly forecasts: number;
  /** Time spent inside the graphs, by the clock and by the threads' processor time, all threads together. */
  readonly runMs: number;
  readonly cpuMs: number;
}

interface Submission {
  /** Position of the model. */
  readonly index: number;
  readonly batch: ForecastBatch;
  readonly quantiles: 'all' | 'median';
  readonly weights: TunedWeights | null;
}

/** 128 MiB of values at context 512, held by those who wait. */
const QUEUE_ROWS_MAX = 65_536;
const RUN_ROWS_MAX = 128;
/** Values of one run: 32 rows of context 512, some 7 ms. More rows are no faster there; short contexts want more of them. */
const RUN_VALUES_MAX = 16_384;
/** Below this a run costs more for each row; work for idle threads is not cut finer. */
const RUN_ROWS_MIN = 8;
/** A thread that runs gets its next run in advance, so that it does not wait for a busy main thread. */
const RUNS_PER_THREAD_MAX = 2;

/**
 * Forecasters of several models that share inference threads. Rows that wait for the same model, context length and horizon
 * (rounded up to patches) are merged into one run as soon as a thread is free; nobody waits for company. The rows of a group are a run of their own.
 *
 * A run that fails rejects the requests in it. A thread that ends by itself ends everything: every request, now and
 * from then on, is rejected as `internal`.
 */
export class Forecasters {
  readonly #models: readonly Model[];
  readonly #limits: Required<ForecasterLimits>;
  readonly #queue: RunQueue<QueuedForecast>;
  readonly #sums = { runs: 0, forecasts: 0, runMs: 0, cpuMs: 0 };
  #threads: readonly InferenceThread[] = [];
  #groups = 0;
  #dispatching = false;
  #ended: Error | null = null;
  #onDrained: (() => void) | null = null;
  #closing: Promise<void> | null = null;

  private constructor(models: readonly Model[], limits: ForecasterLimits) {
    assert(limits.threads >= 1, 'there is an inference thread');
    this.#models = models;
    this.#limits = { queueRowsMax: QUEUE_ROWS_MAX, runRowsMax: RUN_ROWS_MAX, ...limits };
    const { queueRowsMax, runRowsMax } = this.#limits;
    const fullRun = ({ contextLength }: ForecastBatch) =>
      Math.min(runRowsMax, Math.max(RUN_ROWS_MIN, Math.floor(RUN_VALUES_MAX / contextLength)));
    this.#queue = new RunQueue(queueRowsMax, fullRun);
  }

  /**
   * Loads the models, each once, into `threads` inference threads.
   * Throws ServiceError `model-invalid` when a graph cannot be loaded or does not take and give what its manifest says.
   */
  static async start(models: readonly Model[], limits: ForecasterLimits): Promise<Forecasters> {
    const different = new Map(models.map((model) => [model.name, model]));
    const forecasters = new Forecasters([...different.values()], limits);
    await forecasters.#start();
    return forecasters;
  }

  /**
   * The forecaster of a loaded model, for forecasts of `horizon` steps.
   * @param weights that were tuned from the model; null: its own. All weights share the sessions; a run takes one of them. Where tuning changed
   *   nothing and the model's own are a file by themselves (`source`), that is seen by their digest, and the forecasts are the model's to the bit.
   * Throws ServiceError `model-unknown` for a model that was not loaded, `configuration` when it does not decode that far.
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

  stats(): ForecasterStats {
    return { threads: this.#threads.length, rowsWaiting: this.#queue.rows, ...this.#sums };
  }

  /** Takes nothing more, finishes what was taken, and ends the threads. */
  close(): Promise<void> {
    this.#ended ??= new Error('the forecasters are closed');
    this.#closing ??= this.#drainAndStop();
    return this.#closing;
  }

  async #start(): Promise<void> {
    const starts = await Promise.allSettled(
      Array.from({ length: this.#limits.threads }, () =>
        InferenceThread.start(this.#models, (error) => this.#lose(error)),
      ),
    );
    this.#threads = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    const failed = starts.find((start) => start.status === 'rejected');
    if (failed === undefined) return;
    await this.close();
    throw new ServiceError('model-invalid', (failed.reason as Error).message, { cause: failed.reason });
  }

  async #drainAndStop(): Promise<void> {
    if (!this.#isDrained()) {
      await new Promise<void>((resolve) => {
        this.#onDrained = resolve;
      });
    }
    await Promise.all(this.#threads.map((thread) => thread.stop()));
  }

  #isDrained(): boolean {
    return this.#queue.rows === 0 && this.#threads.every((thread) => thread.runs === 0);
  }

  async #submit(
    { index, batch, quantiles, weights }: Submission,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array> {
    const model = this.#models[index];
    const { patch, quantiles: levels } = model.manifest;
    checkBatch(batch, model);
    signal?.throwIfAborted();
    if (this.#ended !== null) throw this.#ended;
    const horizonRun = Math.ceil(batch.horizon / patch) * patch;
    const alike = `${index} ${batch.contextLength} ${horizonRun} ${quantiles} ${weights?.digest}`;
    const key = batch.isGroup ? `${alike} group ${this.#groups++}` : alike;
    const result = new Float32Array(batch.rows * batch.horizon * (quantiles === 'all' ? levels.length : 1));
    if (batch.rows === 0) return result;
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array>();
    const settle = { rowsMissing: batch.rows, resolve, reject };
    const theta: RunRequest['theta'] = weights?.theta ?? null;
    const request = { key, model: index, batch, horizonRun, quantiles, theta, result, ...settle };
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
    const idle = this.#threads.filter((thread) => thread.runs === 0);
    for (let thread = idle.pop(); thread !== undefined && this.#queue.rows > 0; thread = idle.pop()) {
      const share = Math.ceil(this.#queue.rowsNext / (idle.length + 1));
      this.#run(thread, this.#queue.take(Math.max(RUN_ROWS_MIN, share)));
    }
    // A full run would gain nothing from waiting any longer. While there are some no thread is ever idle; so others have their turn here, too.
    for (const thread of this.#threads) {
      if (thread.runs < RUNS_PER_THREAD_MAX && this.#queue.hasFullRun()) this.#run(thread, this.#queue.take());
    }
    if (this.#isDrained()) this.#onDrained?.();
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

  /** Rows of the request that wait are not run any more; those that run already are run for nothing. */
  #fail(request: QueuedForecast, reason: unknown): void {
    this.#queue.remove(request);
    request.reject(reason);
    this.#dispatchSoon();
  }

  #lose(error: Error): void {
    this.#ended ??= error;
    for (const request of this.#queue.clear()) request.reject(error);
    this.#dispatchSoon();
  }
}
