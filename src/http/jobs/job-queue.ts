import { randomUUID } from 'node:crypto';
import type { ApiKey } from '../../store/api-keys.ts';
import { releaseCall } from '../../store/credits.ts';
import type { Database } from '../../store/database.ts';
import {
  type AnsweredJob,
  type ClaimedJob,
  cancelJob,
  countInFlight,
  findJob,
  type InFlightCount,
  type JobPage,
  listJobs,
  submitJob,
} from '../../store/jobs.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { HttpProblem } from '../problem.ts';
import { type JobExecutor, TASKS, type TaskName } from './job.ts';
import { JOB_LIMITS, type JobLimits } from './job-limits.ts';
import { JobRunner } from './job-runner.ts';

/** Seconds after which it is worth submitting again. Public clients try six times. */
const RETRY_AFTER_S = 10;
/** What ids look like; nothing else is worth asking the store for. */
const JOB_ID = /^[a-z]{2}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface JobQueueParts {
  readonly database: Database;
  readonly executor: JobExecutor;
  readonly nowMs: () => number;
  readonly logger: Logger;
  /** Hears of a job whose result was taken from this process. */
  readonly onSucceeded?: (job: ClaimedJob) => void;
  readonly limits?: Partial<JobLimits>;
}

export interface JobRequest {
  readonly task: TaskName;
  readonly key: Pick<ApiKey, 'id' | 'owner'>;
  /** What is held for it. */
  readonly holdId: string | null;
  /** JSON, compressed with zstd. */
  readonly body: Uint8Array;
  /** How long it may run; waiting does not count. */
  readonly timeoutSeconds: number;
}

/** The jobs of a store: what clients ask of them, and a runner that runs them beside the requests that are answered at once. */
export class JobQueue {
  readonly #database: Database;
  readonly #limits: JobLimits;
  readonly #nowMs: () => number;
  readonly #runner: JobRunner;

  constructor({ database, executor, nowMs, logger, onSucceeded, limits }: JobQueueParts) {
    this.#database = database;
    this.#limits = { ...JOB_LIMITS, ...limits };
    this.#nowMs = nowMs;
    this.#runner = new JobRunner({
      database,
      executor,
      limits: this.#limits,
      nowMs,
      logger,
      holder: randomUUID(),
      onSucceeded: onSucceeded ?? (() => {}),
    });
  }

  /** Runs jobs that wait already, too. */
  start(): void {
    this.#runner.wake();
  }

  /** Gives the id of the new job once the store has it. Throws an HttpProblem 429 when its owner has too many. */
  async submit({ task, key, holdId, body, timeoutSeconds }: JobRequest): Promise<string> {
    const id = `${TASKS[task]}-${randomUUID()}`;
    const job = { id, task, owner: key.owner, keyId: key.id, holdId, timeoutSeconds, request: body };
    const submitted = await submitJob(this.#database, { ...job, createdAtMs: this.#nowMs() }, this.#limits.inFlight);
    if (submitted.kind === 'too-many') {
      const text = `Too many jobs in flight (${submitted.inFlight}); try again when some have ended`;
      throw new HttpProblem(429, text, { headers: { 'retry-after': String(RETRY_AFTER_S) } });
    }
    this.#runner.wake();
    return id;
  }

  /** Whether there was something to cancel. */
  async cancel(owner: string, id: string): Promise<boolean> {
    if (!JOB_ID.test(id)) return false;
    const endedAtMs = this.#nowMs();
    const expiresAtMs = endedAtMs + this.#limits.keptMs;
    const cancelled = await cancelJob(this.#database, { owner, id }, { endedAtMs, expiresAtMs });
    if (cancelled === null) return false;
    this.#runner.cancelled(id);
    const { keyId, holdId } = cancelled;
    // Where this fails it comes back by itself, as nobody renews it any more.
    if (holdId !== null) await releaseCall(this.#database, { holdId, keyId }).catch(() => {});
    return true;
  }

  async find(owner: string, id: string): Promise<AnsweredJob | null> {
    return JOB_ID.test(id) ? findJob(this.#database, owner, id, this.#nowMs()) : null;
  }

  page(owner: string, { before, size }: { readonly before: number; readonly size: number }): Promise<JobPage> {
    return listJobs(this.#database, owner, { before, size, nowMs: this.#nowMs() });
  }

  inFlight(owner: string): Promise<InFlightCount[]> {
    return countInFlight(this.#database, owner);
  }

  /** Runs no more jobs. Those that wait stay in the store; the one that runs is given back to it. */
  close(): Promise<void> {
    return this.#runner.close();
  }
}
