import assert from 'node:assert/strict';
import { Worker } from 'node:worker_threads';
import { ServiceError } from '../ops/service-error.ts';
import type { Model } from './catalog.ts';

/** A model of a thread, and when the thread opens it: at its start, also with a check by test runs, or on first use. */
export interface ThreadModel {
  readonly model: Model;
  readonly opening: 'checked-start' | 'start' | 'first-use';
}

/** One run of a model's graph. The buffer of `values` is transferred. */
export interface RunRequest {
  /** Index of the model in the list the thread was started with. */
  readonly model: number;
  readonly rows: number;
  /** The first rows, this many, are one group; 0: every row is alone. */
  readonly members: number;
  readonly contextLength: number;
  /** A multiple of the model's patch. */
  readonly horizon: number;
  /** `rows * contextLength`, NaN if nothing was observed. */
  readonly values: Float32Array<ArrayBuffer>;
  /** Every quantile, or the median alone. */
  readonly quantiles: 'all' | 'median';
  /** Tuned weights, in shared memory; null: the model's own. */
  readonly theta: Float32Array<SharedArrayBuffer> | null;
}

export interface RunForecasts {
  readonly kind: 'forecasts';
  /** `rows * horizon * levels`, where levels is 1 for the median. */
  readonly forecasts: Float32Array<ArrayBuffer>;
  /** Rows whose forecast must not be used, and why; usually none. */
  readonly badRows: readonly { readonly row: number; readonly reason: string }[];
  /** Wall-clock time inside the graph, milliseconds. */
  readonly runMs: number;
  /** Processor time of the thread since it answered its last run, milliseconds. */
  readonly cpuMs: number;
}

type RunResult = RunForecasts | { readonly kind: 'failed'; readonly reason: string };

export type ThreadMessage = { readonly kind: 'ready' } | RunResult;

interface PendingRun {
  resolve(result: RunResult): void;
  reject(error: Error): void;
}

/** Handle of an inference thread. Runs are answered first in, first out. */
export class InferenceThread {
  readonly #worker: Worker;
  readonly #pending: PendingRun[] = [];
  #stopping = false;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  /**
   * Resolves when every model of the start is loaded and passed its test runs; rejects with the reasons otherwise.
   * `onLost` is called when the thread ends later without `stop`, after its runs were rejected with the same error.
   */
  static start(models: readonly ThreadModel[], onLost: (error: ServiceError) => void): Promise<InferenceThread> {
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
        for (const pending of thread.#pending.splice(0)) pending.reject(error);
        onLost(error);
      });
    });
  }

  get runs(): number {
    return this.#pending.length;
  }

  /** Transfers the buffer of `request.values`. Rejects with ServiceError `internal` when the thread is lost. */
  run(request: RunRequest): Promise<RunResult> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.#worker.postMessage(request, [request.values.buffer]);
    });
  }

  /** Ends the thread, which must be idle: terminating a thread inside a run aborts the process. */
  async stop(): Promise<void> {
    assert(this.runs === 0, 'a thread is stopped only when it is idle');
    this.#stopping = true;
    await this.#worker.terminate();
  }

  #answer(result: RunResult): void {
    const pending = this.#pending.shift();
    assert(pending !== undefined, 'a thread answers only pending runs');
    pending.resolve(result);
  }
}
