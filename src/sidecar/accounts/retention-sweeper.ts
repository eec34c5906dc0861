import type { Database } from '../../store/database.ts';
import type { FinetunedWeights } from '../../store/finetuned-weights.ts';
import { condenseUsage, pruneAudit } from '../../store/retention.ts';
import type { Logger } from '../../telemetry/logger.ts';

/** How often what is left over is looked for, the first time so long after the start. */
const SWEEP_INTERVAL_MS = 3_600_000;

interface SweeperParts {
  readonly store: Database;
  readonly kept: FinetunedWeights;
  readonly nowMs: () => number;
  readonly logger: Logger;
}

/** Removes from the store, now and then, what nobody needs any more. Every replica does; what one has done the others find done. */
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

  /** Waits for what is being removed. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** Never rejects: what could not be removed is tried again. */
  async run(): Promise<void> {
    const { store, kept, nowMs, logger } = this.#parts;
    const now = nowMs();
    try {
      const auditEntries = await pruneAudit(store, now);
      const usageMinutes = await condenseUsage(store, now);
      const weightsFiles = await kept.sweep(now);
      if (auditEntries + usageMinutes + weightsFiles === 0) return;
      logger.info({ auditEntries, usageMinutes, weightsFiles }, 'removed from the store, as nobody needs it any more');
    } catch (error) {
      logger.warn({ err: error }, 'what nobody needs any more stays in the store for now');
    }
  }
}
