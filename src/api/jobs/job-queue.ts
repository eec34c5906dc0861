import { randomUUID } from 'node:crypto';
import type { Logger } from '../../ops/logger.ts';
import type { Database } from '../../store/database/database.ts';
import { cancelJob } from '../../store/jobs/job-cancel.ts';
import {
  type AnsweredJob,
  countInFlight,
  findJob,
  findSubmission,
  type Idempotency,
  type InFlightCount,
  type JobListing,
  type JobPage,
  listJobs,
  submitJob,
} from '../../store/jobs/jobs.ts';
import { endCall } from '../../store/ledger/credits.ts';
import { audit } from '../accounts/audit-log.ts';
import type { Caller } from '../accounts/caller.ts';
import { admit } from '../accounts/metering.ts';
import type { TokenCount } from '../accounts/token-count.ts';
import { HttpProblem, otherRequest } from '../wire/problem.ts';
import { JOB_ID_PREFIXES, type JobName } from '../wire/task-names.ts';
import { JOB_LIMITS, type JobLimits } from './job-limits.ts';
import type { RunnerParts } from './job-runner.ts';
import { JobRunner } from './job-runner.ts';

/** `Retry-After` of a full queue, in seconds. Public clients retry six times. */
const RETRY_AFTER_S = 10;
/** The format of job ids. Other ids are not looked up. */
const JOB_ID = /^[a-z]{2}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface JobQueueParts extends Omit<RunnerParts, 'holder' | 'limits'> {
  readonly limits?: Partial<JobLimits>;
}

interface JobRequest {
  readonly task: JobName;
  readonly caller: Caller;
  /** The charge when the job succeeds. */
  readonly tokens: TokenCount;
  /** JSON, compressed with zstd. */
  readonly body: Uint8Array;
  /** Time limit of one run, without the time in the queue. */
  readonly timeoutSeconds: number;
  readonly idempotency?: Idempotency | null;
}

/** The asynchronous jobs of a store: submission, status and cancellation, and the runner of this process. */
export class JobQueue {
  readonly #database: Database;
  readonly #limits: JobLimits;
  readonly #nowMs: () => number;
  readonly #logger: Logger;
  readonly #runner: JobRunner;

  constructor({ database, executor, nowMs, logger, limits, observe }: JobQueueParts) {
    this.#database = database;
    this.#limits = { ...JOB_LIMITS, ...limits };
    this.#nowMs = nowMs;
    this.#logger = logger;
    this.#runner = new JobRunner({
      database,
      executor,
      limits: this.#limits,
      nowMs,
      logger,
      holder: randomUUID(),
      ...(observe && { observe }),
    });
  }

  /** Starts the runner, also for jobs that are already pending. */
  start(): void {
    this.#runner.wake();
  }

  /**
   * Stores a job together with the hold of its tokens, and returns its id. Throws an HttpProblem 429 when the owner has
   * too many jobs, or the key may not submit one.
   */
  async submit({ task, caller, tokens, body, timeoutSeconds, idempotency = null }: JobRequest): Promise<string> {
    const id = `${JOB_ID_PREFIXES[task]}-${randomUUID()}`;
    const createdAtMs = this.#nowMs();
    const known = await this.#database.transaction(async (sql) => {
      // The hold ends with the job, whichever process runs it.
      const lease = { holder: id, leaseUntilMs: Number.MAX_SAFE_INTEGER, nowMs: createdAtMs };
      const call = await admit(sql, { caller, tokens, lease });
      const { owner } = caller.key;
      const { requestId } = caller;
      const job = { id, task, owner, requestId, ...call, createdAtMs, timeoutSeconds, request: body, idempotency };
      const submitted = await submitJob(sql, job, this.#limits.inFlight);
      if (submitted.kind === 'known') {
        // Submitted twice at the same moment: this one is not a call.
        await endCall(sql, call, { tokens: null, nowMs: createdAtMs });
        return sameJob(submitted);
      }
      if (submitted.kind === 'too-many') {
        const text = `Too many jobs in flight (${submitted.inFlight}); try again once some have ended`;
        throw new HttpProblem(429, text, { headers: { 'retry-after': String(RETRY_AFTER_S) } });
      }
      await audit(sql, this.#logger, {
        actor: caller,
        event: { happenedAtMs: createdAtMs, action: 'job-submitted', subject: id },
      });
      return null;
    });
    this.#runner.wake();
    return known ?? id;
  }

  /** The job that was submitted under this idempotency key. Throws an HttpProblem 422 when its request was another. */
  async submitted({ key: { owner } }: Caller, idempotency: Idempotency | null): Promise<string | null> {
    const found = await findSubmission(this.#database, owner, idempotency);
    return found === null ? null : sameJob(found);
  }

  /** Returns false when there was no pending or running job of this id. */
  async cancel(caller: Caller, id: string): Promise<boolean> {
    if (!JOB_ID.test(id)) return false;
    const endedAtMs = this.#nowMs();
    const expiresAtMs = endedAtMs + this.#limits.keptMs;
    const cancelled = this.#database.transaction(async (sql) => {
      const call = await cancelJob(sql, { owner: caller.key.owner, id }, { endedAtMs, expiresAtMs });
      if (call === null) return false;
      await endCall(sql, call, { tokens: null, nowMs: endedAtMs });
      await audit(sql, this.#logger, {
        actor: caller,
        event: { happenedAtMs: endedAtMs, action: 'job-cancelled', subject: id },
      });
      return true;
    });
    // At once, so that a result that is about to be stored waits for it.
    this.#runner.cancelling({ id, owner: caller.key.owner }, cancelled);
    return cancelled;
  }

  async find(owner: string, id: string): Promise<AnsweredJob | null> {
    return JOB_ID.test(id) ? findJob(this.#database, { owner, id }, this.#nowMs()) : null;
  }

  page(owner: string, listing: Omit<JobListing, 'nowMs'>): Promise<JobPage> {
    return listJobs(this.#database, owner, { ...listing, nowMs: this.#nowMs() });
  }

  inFlight(owner: string): Promise<InFlightCount[]> {
    return countInFlight(this.#database, owner);
  }

  /** Stops the runner. Pending jobs stay in the store; the running job is released. */
  close(): Promise<void> {
    return this.#runner.close();
  }
}

function sameJob({ id, same }: { readonly id: string; readonly same: boolean }): string {
  if (same) return id;
  throw otherRequest();
}
