import type { Sql } from './database.ts';

/** Interval at which the clock of Postgres is read. In between the monotonic clock of this process counts. */
const SYNC_MS = 30_000;

interface LocalClock {
  /** The time of this machine, which may be set. */
  nowMs(): number;
  /** Never set, of no particular start. */
  monotonicMs(): number;
}

const LOCAL: LocalClock = { nowMs: Date.now, monotonicMs: () => performance.now() };

/**
 * The time of the store. Leases that several replicas hold, renew and take over are compared by one clock. SQLite is on
 * this machine, so that its time is that of the process.
 */
export class StoreClock {
  readonly #sql: Sql;
  readonly #local: LocalClock;
  readonly #timer: NodeJS.Timeout;
  #storeMs = 0;
  #readAtMs = 0;

  private constructor(sql: Sql, local: LocalClock) {
    this.#sql = sql;
    this.#local = local;
    // An unavailable store is reported by those who need it.
    this.#timer = setInterval(() => void this.sync().catch(() => {}), SYNC_MS).unref();
  }

  /** Reads the time of the store once. Throws a ServiceError when it is unavailable. */
  static async start(sql: Sql, local: LocalClock = LOCAL): Promise<StoreClock> {
    const clock = new StoreClock(sql, local);
    try {
      await clock.sync();
      return clock;
    } catch (error) {
      clock.close();
      throw error;
    }
  }

  readonly nowMs = (): number => {
    if (this.#sql.dialect === 'sqlite') return this.#local.nowMs();
    return Math.floor(this.#storeMs + this.#local.monotonicMs() - this.#readAtMs);
  };

  /** Reads the time of the store again: it is that of the middle of the question and its answer. */
  async sync(): Promise<void> {
    if (this.#sql.dialect === 'sqlite') return;
    const sentMs = this.#local.monotonicMs();
    const [{ now }] = await this.#sql.query<{ now: number }>(
      'SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now',
    );
    const answeredMs = this.#local.monotonicMs();
    this.#storeMs = now;
    this.#readAtMs = (sentMs + answeredMs) / 2;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
