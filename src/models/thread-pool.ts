import { setTimeout as pause } from 'node:timers/promises';
import { ServiceError } from '../ops/service-error.ts';
import type { Model } from './catalog.ts';
import { InferenceThread, type ThreadModel } from './inference-thread.ts';

/** Pause before a thread that could not be started is started again; doubled each time. */
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 30_000;

interface PoolEvents {
  /** A thread was added: there may be work for it. */
  onAdded(): void;
  /** No thread is left, and one cannot be started now: `error` has the reason. Waiting work may be rejected. */
  onNone(error: Error): void;
}

/** Models of every thread. */
interface PoolModels {
  readonly models: readonly Model[];
  /** Those that a thread opens on first use, without a check. */
  readonly rare: ReadonlySet<Model>;
}

/** Inference threads. The first one checks the graphs. A thread that ends unexpectedly is replaced. */
export class ThreadPool {
  readonly #models: PoolModels;
  readonly #events: PoolEvents;
  readonly #closing = new AbortController();
  readonly #replacing = new Set<Promise<void>>();
  #threads: readonly InferenceThread[] = [];
  #trouble: string | null = null;

  private constructor(models: PoolModels, events: PoolEvents) {
    this.#models = models;
    this.#events = events;
  }

  /** Throws ServiceError `model-invalid` when a graph cannot be loaded or contradicts its manifest. */
  static async start(models: PoolModels, threads: number, events: PoolEvents): Promise<ThreadPool> {
    const pool = new ThreadPool(models, events);
    const starts = await Promise.allSettled(
      Array.from({ length: threads }, (_, index) => pool.#startThread(index === 0 ? 'checked-start' : 'start')),
    );
    pool.#threads = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    const failed = starts.find((start) => start.status === 'rejected');
    if (failed === undefined) return pool;
    await pool.close();
    throw new ServiceError('model-invalid', (failed.reason as Error).message, { cause: failed.reason });
  }

  get threads(): readonly InferenceThread[] {
    return this.#threads;
  }

  /** Why there are fewer threads than there should be; null when there are as many. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Ends the threads, which must be idle. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#replacing);
    await Promise.all(this.#threads.map((thread) => thread.stop()));
  }

  async #startThread(opening: ThreadModel['opening']): Promise<InferenceThread> {
    const { models, rare } = this.#models;
    const opened = models.map((model) => ({ model, opening: rare.has(model) ? 'first-use' : opening }) as const);
    const thread: InferenceThread = await InferenceThread.start(opened, (error) => this.#lose(thread, error));
    return thread;
  }

  #lose(thread: InferenceThread, error: Error): void {
    this.#threads = this.#threads.filter((each) => each !== thread);
    this.#trouble = error.message;
    if (this.#closing.signal.aborted) return;
    const replacing = this.#replace().finally(() => this.#replacing.delete(replacing));
    this.#replacing.add(replacing);
  }

  async #replace(): Promise<void> {
    const { signal } = this.#closing;
    for (let retryMs = RETRY_MS_MIN; !signal.aborted; retryMs = Math.min(2 * retryMs, RETRY_MS_MAX)) {
      try {
        const thread = await this.#startThread('start');
        this.#threads = [...this.#threads, thread];
        if (this.#replacing.size === 1) this.#trouble = null;
        this.#events.onAdded();
        return;
      } catch (error) {
        this.#trouble = `an inference thread cannot be started: ${(error as Error).message}`;
        if (this.#threads.length === 0) this.#events.onNone(new ServiceError('internal', this.#trouble));
        await pause(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  }
}
