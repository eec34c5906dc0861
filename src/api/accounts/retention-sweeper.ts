import type { Logger } from '../../ops/logger.ts';
import type { Database } from '../../store/database/database.ts';
import { pruneAnswers } from '../../store/jobs/idempotent-answers.ts';
import { pruneJobs } from '../../store/jobs/job-retention.ts';
import type { FinetunedWeights } from '../../store/models/finetuned-weights.ts';
import { condenseUsage, pruneAudit } from '../../store/retention.ts';

/** Interval of the sweep; the first one runs after one interval. */
const SWEEP_INTERVAL_MS = 3_600_000;

interface SweeperParts {
  readonly store: Database;
  readonly kept: FinetunedWeights;
  readonly nowMs: () => number;
  readonly logger: Logger;
}

/** Periodically deletes expired rows and files. Every replica runs it; concurrent sweeps are harmless. */
export class RetentionSweeper {
  readonly #parts: SweeperParts;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: SweeperParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.run());
    }, SWEEP_INTERVAL_MS).unref();
  }

  /** Waits for the current sweep. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** Never rejects: a failed sweep is retried with the next one. */
  async run(): Promise<void> {
    const { store, kept, nowMs, logger } = this.#parts;
    const now = nowMs();
    try {
      const auditEntries = await pruneAudit(store, now);
      const usageMinutes = await condenseUsage(store, now);
      const weightsFiles = await kept.sweep(now);
      const answers = await pruneAnswers(store, now);
      const jobs = await pruneJobs(store, now);
      if (auditEntries + usageMinutes + weightsFiles + answers + jobs === 0) return;
      logger.info({ auditEntries, usageMinutes, weightsFiles, answers, jobs }, 'expired entries deleted');
    } catch (error) {
      logger.warn({ err: error }, 'expired entries could not be deleted');
    }
  }
}
