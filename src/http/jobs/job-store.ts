import { numbersIn } from '../wire/wire-answer.ts';
import type { Job, JobEnd, TaskName } from './job.ts';

/** What is kept of jobs that ended. Beyond any of these the job that ended first is forgotten; the one that ended last is kept whatever its size. */
export interface StoreLimits {
  /** How long a result can be fetched after the job has ended. */
  readonly keptMs: number;
  readonly endedMax: number;
  /** Numbers in all results together, 8 bytes each. */
  readonly numbersMax: number;
}

export const STORE_LIMITS: StoreLimits = { keptMs: 3_600_000, endedMax: 1_000, numbersMax: 32 * 1024 * 1024 };

export interface JobPage {
  /** Newest first. */
  readonly jobs: readonly Job[];
  /** The `before` of the page that follows; null on the last. */
  readonly next: number | null;
}

interface EndedJob {
  readonly id: string;
  readonly endedMs: number;
  readonly numbers: number;
}

/** The jobs of this process, in memory: they end with it. */
export class JobStore {
  readonly #limits: StoreLimits;
  readonly #nowMs: () => number;
  /** In the order they were made. */
  readonly #jobs = new Map<string, Job>();
  /** In the order they ended. */
  #ended: EndedJob[] = [];
  #numbers = 0;

  constructor(nowMs: () => number, limits: StoreLimits = STORE_LIMITS) {
    this.#nowMs = nowMs;
    this.#limits = limits;
  }

  add(job: Job): void {
    this.#jobs.set(job.id, job);
  }

  find(id: string): Job | null {
    this.#forget();
    return this.#jobs.get(id) ?? null;
  }

  started(id: string): void {
    this.#change(id, { status: 'running' });
  }

  /** The first end counts. */
  ended(id: string, end: JobEnd): void {
    const job = this.#jobs.get(id);
    if (job === undefined || !isOpen(job)) return;
    this.#change(id, end);
    const numbers = end.status === 'succeeded' ? numbersIn(end.result) : 0;
    this.#ended.push({ id, endedMs: this.#nowMs(), numbers });
    this.#numbers += numbers;
    this.#forget();
  }

  /** @param before number of a job: only those made before it */
  page(before: number, size: number): JobPage {
    this.#forget();
    const older = [...this.#jobs.values()].filter(({ number }) => number < before).reverse();
    const jobs = older.slice(0, size);
    return { jobs, next: older.length > size ? jobs[size - 1].number : null };
  }

  /** Jobs of a task that have not ended. */
  open(task: TaskName): { readonly pending: number; readonly running: number } {
    const counts = { pending: 0, running: 0 };
    for (const job of this.#jobs.values()) {
      if (job.task === task && (job.status === 'pending' || job.status === 'running')) counts[job.status]++;
    }
    return counts;
  }

  #change(id: string, change: Partial<Job>): void {
    const job = this.#jobs.get(id);
    if (job !== undefined) this.#jobs.set(id, { ...job, ...change });
  }

  #forget(): void {
    const { keptMs, endedMax, numbersMax } = this.#limits;
    const oldest = this.#nowMs() - keptMs;
    while (this.#ended.length > 0) {
      const [{ id, endedMs, numbers }] = this.#ended;
      const crowded = this.#ended.length > endedMax || (this.#numbers > numbersMax && this.#ended.length > 1);
      if (endedMs > oldest && !crowded) return;
      this.#ended.shift();
      this.#numbers -= numbers;
      this.#jobs.delete(id);
    }
  }
}

export function isOpen({ status }: Job): boolean {
  return status === 'pending' || status === 'running';
}
