import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../ops/logger.ts';
import { ServiceError } from '../../ops/service-error.ts';
import type { Database } from '../../store/database/database.ts';
import { claimJob } from '../../store/jobs/job-claim.ts';
import {
  type ClaimedJob,
  endJob,
  expireJobs,
  expireLeases,
  extendLease,
  type JobProgress,
  releaseJob,
} from '../../store/jobs/jobs.ts';
import { endCall } from '../../store/ledger/credits.ts';
import { tokenSum } from '../accounts/token-count.ts';
import { HttpProblem } from '../wire/problem.ts';
import type { JobName } from '../wire/task-names.ts';
import { INTERNAL_ERROR, type JobExecutor, type JobOutcome, type JobRun } from './job.ts';
import type { JobLimits } from './job-limits.ts';

export interface RunnerParts {
  readonly database: Database;
  readonly executor: JobExecutor<JobName>;
  readonly limits: JobLimits;
  readonly nowMs: () => number;
  readonly logger: Logger;
  /** Identifies this process in leases. */
  readonly holder: string;
  readonly observe?: JobObserver;
}

export interface JobObserver {
  begun(task: JobName): void;
  /** `lost`: cancelled, or taken over by another process. */
  ended(
    task: JobName,
    end: { readonly outcome: 'succeeded' | 'failed' | 'stopped' | 'lost'; readonly ms: number },
  ): void;
  settled(keyId: string, tokens: number): void;
}

/** Why a run is stopped: the job was cancelled or its lease lost, or this process is shutting down. */
type Stop = 'not-ours' | 'ending';

type EndedOutcome = Exclude<JobOutcome, { readonly kind: 'stopped' }>;

/**
 * Claims jobs and runs as many at once as its executor can. One slot is left to other owners, so that long jobs of one
 * do not hold up the others. Several processes may share a store.
 */
export class JobRunner {
  readonly #parts: RunnerParts;
  readonly #ending = new AbortController();
  readonly #running = new Map<string, AbortController>();
  /** Cancellations under way, by owner and id of their jobs. */
  readonly #cancelling = new Map<string, Promise<unknown>>();
  #loop: Promise<void> | null = null;
  #sweptMs = Number.NEGATIVE_INFINITY;
  #storeUnavailable = false;
  readonly #waiting = new Set<() => void>();
  /** Grows with every signal that jobs may be pending. */
  #wakes = 0;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  get #slots(): number {
    return this.#parts.executor.slots ?? 1;
  }

  /** Signals that jobs may be pending. The first call starts the loop. */
  wake(): void {
    this.#wakes++;
    for (const resume of this.#waiting) resume();
    this.#loop ??= Promise.all(Array.from({ length: this.#slots }, () => this.#work())).then(() => {});
  }

  /** Lets a cancellation win over a result that is not stored yet, and stops the run if this process has it. */
  cancelling(job: Pick<ClaimedJob, 'id' | 'owner'>, cancelled: Promise<boolean>): void {
    const name = nameOf(job);
    const settled = cancelled.then(
      (won) => {
        if (won) this.#running.get(job.id)?.abort('not-ours' satisfies Stop);
      },
      () => {},
    );
    this.#cancelling.set(name, settled);
    void settled.then(() => {
      if (this.#cancelling.get(name) === settled) this.#cancelling.delete(name);
    });
  }

  /** Claims no more jobs. The running job is stopped and released for another process. */
  async close(): Promise<void> {
    this.#ending.abort();
    for (const stop of this.#running.values()) stop.abort('ending' satisfies Stop);
    for (const resume of this.#waiting) resume();
    await this.#loop;
    await this.#parts.executor.close();
  }

  async #work(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      const wakes = this.#wakes;
      const job = await this.#tryStore(() => this.#next());
      if (job) await this.#run(job);
      else if (wakes === this.#wakes) await this.#waitForWork();
    }
  }

  /** Handles expired leases and expired jobs of all processes once per poll interval, then claims a job. */
  async #next(): Promise<ClaimedJob | null> {
    const { database, limits, nowMs, logger } = this.#parts;
    const now = nowMs();
    if (now - this.#sweptMs >= limits.pollMs) {
      this.#sweptMs = now;
      const { attemptsMax } = limits;
      const error = `The processes that ran the job crashed, ${attemptsMax} times`;
      const plan = { nowMs: now, attemptsMax, error, expiresAtMs: now + limits.keptMs };
      const lapsed = await database.transaction(async (sql) => {
        const { waiting, failed } = await expireLeases(sql, plan);
        for (const call of failed) await endCall(sql, call, { tokens: null, nowMs: now });
        return waiting;
      });
      for (const jobId of lapsed) {
        logger.warn({ jobId }, 'lease expired: the job is pending again');
      }
      await expireJobs(database, now);
    }
    return claimJob(database, { ...this.#lease(), nowMs: now, runningOfOwnerMax: Math.max(1, this.#slots - 1) });
  }

  async #run(job: ClaimedJob): Promise<void> {
    const { executor, limits, nowMs, logger, observe } = this.#parts;
    const stop = new AbortController();
    if (this.#ending.signal.aborted) stop.abort('ending' satisfies Stop);
    this.#running.set(job.id, stop);
    let progress: JobProgress | null = null;
    let isRenewing = false;
    // One after the other: a slow one would store an earlier progress behind a later one.
    const renew = async () => {
      if (isRenewing) return;
      isRenewing = true;
      await this.#renewLease(job, progress, stop);
      isRenewing = false;
    };
    const heartbeat = setInterval(() => void renew(), limits.heartbeatMs).unref();
    const startedMs = nowMs();
    const { id: jobId, requestId, attempt, request, timeoutSeconds } = job;
    const task = job.task as JobName;
    const run: JobRun<JobName> = {
      task,
      request,
      timeoutMs: timeoutSeconds * 1_000,
      signal: stop.signal,
      onProgress: (made) => {
        progress = made;
      },
    };
    observe?.begun(task);
    // A bug of the executor must not end the runner.
    const failedBy = ({ stack, message }: Error) =>
      ({ kind: 'failed', error: INTERNAL_ERROR, cause: stack ?? message }) as const;
    const outcome: JobOutcome = await executor.run(run).catch(failedBy);
    clearInterval(heartbeat);
    this.#running.delete(job.id);
    const isStored = outcome.kind !== 'stopped' && (await this.#end(job, outcome));
    if (outcome.kind === 'stopped' && stop.signal.reason === ('ending' satisfies Stop)) await this.#release(job);
    if (outcome.kind === 'failed' && outcome.cause !== undefined) {
      logger.error({ jobId, requestId, cause: outcome.cause }, 'a job failed');
    }
    const ms = nowMs() - startedMs;
    logger.info({ jobId, requestId, task, attempt, outcome: outcome.kind, taken: isStored, ms }, 'job');
    observe?.ended(task, { outcome: endOf(outcome, isStored), ms });
    if (outcome.kind === 'answered' && isStored) observe?.settled(job.keyId, tokenSum(outcome.tokens));
  }

  async #renewLease(job: ClaimedJob, progress: JobProgress | null, stop: AbortController): Promise<void> {
    const held = await this.#tryStore(() => extendLease(this.#parts.database, job, { ...this.#lease(), progress }));
    if (held === false) stop.abort('not-ours' satisfies Stop);
  }

  /**
   * Stores the outcome with its effect, and settles the hold, in one transaction. Returns false when the lease was
   * lost. While the store is unavailable it retries until the lease expires.
   */
  async #end(job: ClaimedJob, outcome: EndedOutcome): Promise<boolean> {
    const { limits, nowMs } = this.#parts;
    const expiresMs = nowMs() + limits.leaseMs;
    do {
      const accepted = await this.#tryStore(() => this.#store(job, outcome));
      if (accepted === 'cancelling') await this.#cancelling.get(nameOf(job));
      else if (accepted instanceof HttpProblem) {
        await this.#discard(outcome);
        return this.#end(job, { kind: 'failed', error: accepted.message });
      } else if (accepted !== null) {
        if (!accepted) await this.#discard(outcome);
        return accepted;
      } else await pause(limits.pollMs, undefined, { signal: this.#ending.signal }).catch(() => {});
    } while (nowMs() < expiresMs && !this.#ending.signal.aborted);
    await this.#discard(outcome);
    return false;
  }

  /** True if the lease was held; `cancelling` while the job is being cancelled; the problem of a refused effect. */
  async #store(job: ClaimedJob, outcome: EndedOutcome): Promise<boolean | 'cancelling' | HttpProblem> {
    const { database, limits, nowMs, holder } = this.#parts;
    const endedAtMs = nowMs();
    const at = { endedAtMs, expiresAtMs: endedAtMs + limits.keptMs };
    const end =
      outcome.kind === 'answered'
        ? ({ status: 'succeeded', result: outcome.result, error: null, ...at } as const)
        : ({ status: 'failed', result: null, error: outcome.error, ...at } as const);
    const tokens = outcome.kind === 'answered' ? tokenSum(outcome.tokens) : null;
    try {
      return await database.transaction(async (sql) => {
        const ours = await endJob(sql, job, { ...end, holder });
        if (ours) await endCall(sql, job, { tokens, nowMs: endedAtMs });
        if (ours && outcome.kind === 'answered') await outcome.effect?.commit(sql);
        // A cancellation that arrived in the meantime comes first: nothing of this is kept.
        if (this.#cancelling.has(nameOf(job))) throw new CancelledMeanwhile();
        return ours;
      });
    } catch (error) {
      if (error instanceof CancelledMeanwhile) return 'cancelling';
      if (error instanceof HttpProblem) return error;
      throw error;
    }
  }

  async #discard(outcome: EndedOutcome): Promise<void> {
    if (outcome.kind === 'answered') await outcome.effect?.discard();
  }

  async #release(job: ClaimedJob): Promise<void> {
    await this.#tryStore(() => releaseJob(this.#parts.database, job, this.#parts.holder));
  }

  /** Returns null while the store is unavailable, and logs that once. */
  async #tryStore<T>(query: () => Promise<T>): Promise<T | null> {
    try {
      const found = await query();
      this.#storeUnavailable = false;
      return found;
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'store-unavailable')) {
        this.#parts.logger.error({ err: error }, 'the jobs of the store cannot be processed');
      } else if (!this.#storeUnavailable) {
        this.#storeUnavailable = true;
        this.#parts.logger.warn({ err: error }, 'the store is unavailable: jobs wait');
      }
      return null;
    }
  }

  #lease() {
    const { holder, limits, nowMs } = this.#parts;
    return { holder, untilMs: nowMs() + limits.leaseMs };
  }

  /** Waits for the poll interval or a wake-up. */
  async #waitForWork(): Promise<void> {
    await new Promise<void>((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        this.#waiting.delete(resume);
        resolve();
      };
      const timer = setTimeout(resume, this.#parts.limits.pollMs).unref();
      this.#waiting.add(resume);
    });
  }
}

function endOf({ kind }: JobOutcome, isStored: boolean) {
  if (kind === 'stopped') return 'stopped';
  if (!isStored) return 'lost';
  return kind === 'answered' ? 'succeeded' : 'failed';
}

class CancelledMeanwhile extends Error {}

const nameOf = ({ id, owner }: Pick<ClaimedJob, 'id' | 'owner'>) => JSON.stringify([owner, id]);
