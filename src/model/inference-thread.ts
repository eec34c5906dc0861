import assert from 'node:assert/strict';
import { Worker } from 'node:worker_threads';
import { ServiceError } from '../service-error.ts';
import type { Model } from './catalog.ts';

/** One execution of a model's graph. `values` changes hands. */
export interface RunRequest {
  /** Position of the model in the list the thread was started with. */
  readonly model: number;
  readonly rows: number;
  /** So many rows, from the first on, are one group; 0 = every row is alone. */
  readonly members: number;
  readonly contextLength: number;
  /** A multiple of the model's patch. */
  readonly horizon: number;
  /** `rows * contextLength`, NaN where nothing was observed. */
  readonly values: Float32Array<ArrayBuffer>;
  /** Every quantile of a step, or the median alone. */
  readonly quantiles: 'all' | 'median';
  /** Weights to forecast with, shared between threads; null: the model's own. */
  readonly theta: Float32Array<SharedArrayBuffer> | null;
}

export interface RunForecasts {
  readonly kind: 'forecasts';
  /** `rows * horizon * levels`, where levels is 1 for the median. */
  readonly forecasts: Float32Array<ArrayBuffer>;
  /** Rows whose forecast must not be used, and why; usually none. */
  readonly badRows: readonly { readonly row: number; readonly reason: string }[];
  /** How long the graph ran, by the clock and by the thread's processor time, milliseconds. */
  readonly runMs: number;
  readonly cpuMs: number;
}

export type RunResult = RunForecasts | { readonly kind: 'failed'; readonly reason: string };

export type ThreadMessage = { readonly kind: 'ready' } | RunResult;

interface Waiting {
  resolve(result: RunResult): void;
  reject(error: Error): void;
}

/** The main thread's end of one inference thread. Runs are answered in the order in which they were handed over. */
export class InferenceThread {
  readonly #worker: Worker;
  readonly #waiting: Waiting[] = [];
  #stopping = false;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  /**
   * Resolves when every model is loaded and has made one forecast; rejects with the reason when one cannot.
   * `onLost` hears of a thread that ends later without having been stopped, after its runs were rejected with the same error.
   */
  static start(models: readonly Model[], onLost: (error: ServiceError) => void): Promise<InferenceThread> {
    return new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./forecast-worker.ts', import.meta.url), { workerData: models });
      const thread = new InferenceThread(worker);
      let ready = false;
      let cause = new Error('it gave no reason');
      worker.on('message', (message: ThreadMessage) => {
        if (message.kind !== 'ready') return thread.#answer(message);
        ready = true;
        resolve(thread);
      });
      worker.on('error', (error: Error) => {
        cause = error;
      });
      worker.on('exit', () => {
        if (!ready) return reject(cause);
        if (thread.#stopping) return;
        const error = new ServiceError('internal', `an inference thread ended: ${cause.message}`, { cause });
        for (const waiting of thread.#waiting.splice(0)) waiting.reject(error);
        onLost(error);
      });
    });
  }

  /** Runs that were handed over and not answered yet. */
  get runs(): number {
    return this.#waiting.length;
  }

  /** Hands a run over; the buffer of `request.values` is transferred. Rejects with ServiceError `internal` when the thread is lost. */
  run(request: RunRequest): Promise<RunResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#worker.postMessage(request, [request.values.buffer]);
    });
  }

  /** Ends the thread. Only when no run is under way: ending a thread inside the graph would abort the whole process. */
  async stop(): Promise<void> {
    assert(this.runs === 0, 'a thread is stopped only when it is idle');
    this.#stopping = true;
    await this.#worker.terminate();
  }

  #answer(result: RunResult): void {
    const waiting = this.#waiting.shift();
    assert(waiting !== undefined, 'a thread answers only what it was asked');
    waiting.resolve(result);
  }
}
