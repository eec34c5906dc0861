/** A transaction that takes longer is reported: a usual one takes less than a tenth of a second. */
export const COMMIT_MS_MAX = 3_000;

/**
 * Notices that the transactions of a partition make no progress, whatever the reason is: an output partition without a
 * leader, a coordinator that does not answer, a quota. It stays so through restores, until a commit succeeds.
 */
export class CommitWatch {
  readonly #report: (error: Error | null) => void;
  #timer: NodeJS.Timeout | undefined;
  /** Reason why a request of the running transaction is repeated. */
  #retried: Error | null = null;
  /** The next offset of the transaction that takes too long. */
  #stalledAt: number | null = null;

  /** @param report is called with the reason, once, and with null when a commit succeeds again */
  constructor(report: (error: Error | null) => void) {
    this.#report = report;
  }

  /** Why transactions make no progress; null if they do. */
  get stalled(): Error | null {
    if (this.#stalledAt === null) return null;
    return this.#retried ?? new Error(`its transaction has had no answer for ${COMMIT_MS_MAX / 1_000} s`);
  }

  retried(error: Error): void {
    this.#retried = error;
  }

  async watch(nextOffset: number, commit: () => Promise<void>): Promise<void> {
    if (this.#stalledAt === null) this.#retried = null;
    this.#timer = setTimeout(() => {
      const isNew = this.#stalledAt === null;
      this.#stalledAt = nextOffset;
      if (isNew) this.#report(this.stalled);
    }, COMMIT_MS_MAX);
    try {
      await commit();
      this.#end();
    } finally {
      clearTimeout(this.#timer);
    }
  }

  /** The partition continues at `offset`: a commit that seemed to fail may have succeeded. */
  restored(offset: number): void {
    if (this.#stalledAt !== null && offset >= this.#stalledAt) this.#end();
  }

  #end(): void {
    const wasStalled = this.#stalledAt !== null;
    this.#stalledAt = null;
    if (wasStalled) this.#report(null);
  }
}
