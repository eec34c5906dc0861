import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../telemetry/logger.ts';
import type { Call, Work } from '../calls.ts';
import { problemOf } from '../failures.ts';
import { HttpProblem } from '../problem.ts';
import { TASKS, type TaskName } from './job.ts';
import { isOpen, JobStore } from './job-store.ts';

/** What may wait and run at one time. Beyond it a job is refused with 429; one that would be alone is taken whatever its size. */
export interface QueueLimits {
  readonly jobsMax: number;
  /** Numbers in the requests of all these jobs, 8 bytes each. */
  readonly numbersMax: number;
}

export const QUEUE_LIMITS: QueueLimits = { jobsMax: 100, numbersMax: 64 * 1024 * 1024 };

/** Seconds after which it is worth submitting again. Public clients try six times. */
const RETRY_AFTER_S = 10;

export interface JobRequest {
  readonly task: TaskName;
  readonly run: Work['run'];
  /** Settled when the job has succeeded, released when it has not. */
  readonly call: Call;
  /** Numbers that the work holds until it has ended. */
  readonly numbers: number;
  /** How long it may run; waiting does not count. */
  readonly secondsMax: number;
}

interface OpenJob extends JobRequest {
  readonly id: string;
  readonly abort: AbortController;
}

/**
 * Runs jobs one after the other, the one that waits longest first, beside the requests that are answered at once; the batches of the model are
 * shared with these in turns.
 */
export class JobQueue {
  readonly store: JobStore;
  readonly #nowMs: () => number;
  readonly #logger: Logger;
  readonly #limits: QueueLimits;
  readonly #waiting: OpenJob[] = [];
  #running: OpenJob | null = null;
  #ended: Promise<void> = Promise.resolve();
  #made = 0;
  #numbers = 0;

  constructor(
    nowMs: () => number,
    logger: Logger,
    { store, limits = QUEUE_LIMITS }: { readonly store?: JobStore; readonly limits?: QueueLimits } = {},
  ) {
    this.#nowMs = nowMs;
    this.#logger = logger;
    this.#limits = limits;
    this.store = store ?? new JobStore(nowMs);
  }

  /** Gives the id of the new job. Throws an HttpProblem 429 when there is no room for it. */
  submit(request: JobRequest): string {
    const open = this.#waiting.length + (this.#running === null ? 0 : 1);
    const { jobsMax, numbersMax } = this.#limits;
    if (open >= jobsMax || (open > 0 && this.#numbers + request.numbers > numbersMax)) {
      const text = `Too many jobs in flight (${open}); try again when some have ended`;
      throw new HttpProblem(429, text, { headers: { 'retry-after': String(RETRY_AFTER_S) } });
    }
    const { task, numbers } = request;
    const id = `${TASKS[task]}-${randomUUID()}`;
    const fresh = { status: 'pending', result: null, error: null } as const;
    this.store.add({ id, task, number: ++this.#made, createdMs: this.#nowMs(), ...fresh });
    this.#numbers += numbers;
    this.#waiting.push({ ...request, id, abort: new AbortController() });
    this.#next();
    return id;
  }

  /** Whether there was something to cancel. A job that runs is told to stop; the next one starts when it has. */
  cancel(id: string): boolean {
    const job = this.store.find(id);
    if (job === null || !isOpen(job)) return false;
    this.store.ended(id, { status: 'cancelled' });
    if (this.#running?.id === id) {
      this.#running.abort.abort(new Error('the job was cancelled'));
      return true;
    }
    const [{ numbers, call }] = this.#waiting.splice(
      this.#waiting.findIndex((waiting) => waiting.id === id),
      1,
    );
    this.#numbers -= numbers;
    void call.release();
    return true;
  }

  /** Cancels every job, and waits until the one that runs has stopped. */
  async close(): Promise<void> {
    for (const { id } of [...this.#waiting]) this.cancel(id);
    if (this.#running !== null) this.cancel(this.#running.id);
    await this.#ended;
  }

  #next(): void {
    if (this.#running !== null) return;
    const job = this.#waiting.shift() ?? null;
    this.#running = job;
    if (job !== null) this.#ended = this.#run(job);
  }

  async #run(job: OpenJob): Promise<void> {
    const { id, run, call, secondsMax, abort } = job;
    this.store.started(id);
    const deadline = setTimeout(() => {
      const error = `The job was stopped after ${secondsMax} seconds, its limit`;
      this.store.ended(id, { status: 'failed', error });
      abort.abort(new Error(error));
    }, secondsMax * 1_000).unref();
    try {
      // Whoever submitted it is answered first.
      await nextTurn();
      abort.signal.throwIfAborted();
      const result = await run(abort.signal);
      await call.settle();
      this.store.ended(id, { status: 'succeeded', result });
    } catch (error) {
      this.#failed(id, error, abort.signal);
      await call.release();
    }
    clearTimeout(deadline);
    this.#numbers -= job.numbers;
    this.#running = null;
    this.#next();
  }

  #failed(jobId: string, error: unknown, { aborted }: AbortSignal): void {
    if (aborted) return;
    const problem = problemOf(error, 'job id');
    if (problem.status === 500) this.#logger.error({ err: error, jobId }, 'a job failed');
    this.store.ended(jobId, { status: 'failed', error: problem.message });
  }
}
