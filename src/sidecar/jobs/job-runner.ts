import { setTimeout as pause } from 'node:timers/promises';
import { ServiceError } from '../../service-error.ts';
import { endCall } from '../../store/credits.ts';
import type { Database } from '../../store/database.ts';
import {
  type ClaimedJob,
  claimJob,
  endJob,
  expireJobs,
  expireLeases,
  extendLease,
  type JobProgress,
  releaseJob,
} from '../../store/jobs.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { tokenSum } from '../accounts/token-count.ts';
import type { TaskName } from '../wire/task-names.ts';
import { INTERNAL_ERROR, type JobExecutor, type JobOutcome, type JobRun } from './job.ts';
import type { JobLimits } from './job-limits.ts';

export interface RunnerParts {
  readonly database: Database;
  readonly executor: JobExecutor;
  readonly limits: JobLimits;
  readonly nowMs: () => number;
  readonly logger: Logger;
  /** Names this process among those that share the store. */
  readonly holder: string;
}

/** Why a run is stopped: nobody waits for its job any more, or this process ends and another one shall run it. */
type Stop = 'not-ours' | 'ending';

/** Takes jobs from the store and runs them, one after the other. Many processes may do so on one store. */
export class JobRunner {
  readonly #parts: RunnerParts;
  readonly #ending = new AbortController();
  #running: { readonly id: string; readonly stop: AbortController } | null = null;
  #loop: Promise<void> | null = null;
  #sweptMs = Number.NEGATIVE_INFINITY;
  #storeUnavailable = false;
  #wakeUp: () => void = () => {};
  #awake = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** There may be work. The first call starts the runner. */
  wake(): void {
    this.#awake = true;
    this.#wakeUp();
    this.#loop ??= this.#work();
  }

  /** Stops the run of a job that was cancelled, if it is here. */
  cancelled(id: string): void {
    if (this.#running?.id === id) this.#running.stop.abort('not-ours' satisfies Stop);
  }

  /** Takes no more jobs; the one that runs is stopped and given back, so that another process runs it. */
  async close(): Promise<void> {
    this.#ending.abort();
    this.#running?.stop.abort('ending' satisfies Stop);
    this.#wakeUp();
    await this.#loop;
    await this.#parts.executor.close();
  }

  async #work(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      this.#awake = false;
      const job = await this.#tryStore(() => this.#next());
      if (job) await this.#run(job);
      else if (!this.#awake) await this.#waitForWork();
    }
  }

  /** Looks after the jobs of all, now and then, and takes one. */
  async #next(): Promise<ClaimedJob | null> {
    const { database, limits, nowMs, logger } = this.#parts;
    const now = nowMs();
    if (now - this.#sweptMs >= limits.pollMs) {
      this.#sweptMs = now;
      const { attemptsMax } = limits;
      const error = `The processes that ran the job ended under it, ${attemptsMax} times`;
      const plan = { nowMs: now, attemptsMax, error, expiresAtMs: now + limits.keptMs };
      const lapsed = await database.transaction(async (sql) => {
        const { waiting, failed } = await expireLeases(sql, plan);
        for (const call of failed) await endCall(sql, call, { tokens: null, nowMs: now });
        return waiting;
      });
      for (const jobId of lapsed) {
        logger.warn({ jobId }, 'a job waits again: whoever ran it fell silent');
      }
      await expireJobs(database, now);
    }
    return claimJob(database, this.#lease(), now);
  }

  async #run(job: ClaimedJob): Promise<void> {
    const { executor, limits, nowMs, logger } = this.#parts;
    const stop = new AbortController();
    if (this.#ending.signal.aborted) stop.abort('ending' satisfies Stop);
    this.#running = { id: job.id, stop };
    let progress: JobProgress | null = null;
    const heartbeat = setInterval(() => void this.#renewLease(job, progress, stop), limits.heartbeatMs).unref();
    const startedMs = nowMs();
    const { id: jobId, attempt, request, timeoutSeconds } = job;
    const task = job.task as TaskName;
    const run: JobRun = {
      task,
      request,
      timeoutMs: timeoutSeconds * 1_000,
      signal: stop.signal,
      onProgress: (made) => {
        progress = made;
      },
    };
    const outcome = await executor.run(run).catch(failedBy);
    clearInterval(heartbeat);
    this.#running = null;
    const taken = outcome.kind !== 'stopped' && (await this.#end(job, outcome));
    if (outcome.kind === 'stopped' && stop.signal.reason === ('ending' satisfies Stop)) await this.#release(job);
    if (outcome.kind === 'failed' && outcome.cause !== undefined) {
      logger.error({ jobId, cause: outcome.cause }, 'a job failed');
    }
    logger.info({ jobId, task, attempt, outcome: outcome.kind, taken, ms: nowMs() - startedMs }, 'job');
  }

  async #renewLease(job: ClaimedJob, progress: JobProgress | null, stop: AbortController): Promise<void> {
    const held = await this.#tryStore(() => extendLease(this.#parts.database, job, { ...this.#lease(), progress }));
    if (held === false) stop.abort('not-ours' satisfies Stop);
  }

  /** Writes the end down, and charges it; false where the job is not ours any more. A store that is away is tried again until the lease is over: then the job is another run's. */
  async #end(job: ClaimedJob, outcome: Exclude<JobOutcome, { readonly kind: 'stopped' }>): Promise<boolean> {
    const { database, limits, nowMs, holder } = this.#parts;
    const expiresMs = nowMs() + limits.leaseMs;
    do {
      const endedAtMs = nowMs();
      const at = { endedAtMs, expiresAtMs: endedAtMs + limits.keptMs };
      const end =
        outcome.kind === 'answered'
          ? ({ status: 'succeeded', result: outcome.result, error: null, ...at } as const)
          : ({ status: 'failed', result: null, error: outcome.error, ...at } as const);
      const tokens = outcome.kind === 'answered' ? tokenSum(outcome.tokens) : null;
      const accepted = await this.#tryStore(() =>
        database.transaction(async (sql) => {
          const ours = await endJob(sql, job, holder, end);
          if (ours) await endCall(sql, job, { tokens, nowMs: endedAtMs });
          return ours;
        }),
      );
      if (accepted !== null) return accepted;
      await pause(limits.pollMs, undefined, { signal: this.#ending.signal }).catch(() => {});
    } while (nowMs() < expiresMs && !this.#ending.signal.aborted);
    return false;
  }

  async #release(job: ClaimedJob): Promise<void> {
    await this.#tryStore(() => releaseJob(this.#parts.database, job, this.#parts.holder));
  }

  /** null while the store is away, which is said once. */
  async #tryStore<T>(ask: () => Promise<T>): Promise<T | null> {
    try {
      const found = await ask();
      this.#storeUnavailable = false;
      return found;
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'store-unavailable')) {
        this.#parts.logger.error({ err: error }, 'the jobs of the store cannot be worked on');
      } else if (!this.#storeUnavailable) {
        this.#storeUnavailable = true;
        this.#parts.logger.warn({ err: error }, 'jobs wait until the store is back');
      }
      return null;
    }
  }

  #lease() {
    const { holder, limits, nowMs } = this.#parts;
    return { holder, untilMs: nowMs() + limits.leaseMs };
  }

  /** Until there may be work. */
  async #waitForWork(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#parts.limits.pollMs).unref();
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** A fault of the executor itself: it must not end the runner. */
function failedBy(error: Error): JobOutcome {
  return { kind: 'failed', error: INTERNAL_ERROR, cause: error.stack ?? error.message };
}
