const MIB = 1024 * 1024;
/** Asking the system costs microseconds. The answer counts for this time. */
const FRESH_MS = 250;
/** Partitions continue below this share of the limit. */
const RELEASED_SHARE = 0.95;

interface MemoryGuardOptions {
  /** null: no limit. */
  readonly bytesMax: number | null;
  readonly usedBytes: () => number;
  readonly nowMs: () => number;
}

/** True if the process holds so much memory that partitions have to pause, before the kernel ends it. */
export class MemoryGuard {
  readonly #options: MemoryGuardOptions;
  #exceeded = false;
  #askedMs = Number.NEGATIVE_INFINITY;
  #usedBytes = 0;

  constructor(options: MemoryGuardOptions) {
    this.#options = options;
  }

  get exceeded(): boolean {
    const { bytesMax, usedBytes, nowMs } = this.#options;
    if (bytesMax === null) return false;
    if (nowMs() - this.#askedMs < FRESH_MS) return this.#exceeded;
    this.#askedMs = nowMs();
    this.#usedBytes = usedBytes();
    this.#exceeded = this.#usedBytes > (this.#exceeded ? RELEASED_SHARE * bytesMax : bytesMax);
    return this.#exceeded;
  }

  /** For readiness; null while the limit is not exceeded. */
  reason(): string | null {
    if (!this.exceeded) return null;
    const [used, max] = [this.#usedBytes, this.#options.bytesMax ?? 0].map((bytes) => Math.round(bytes / MIB));
    return `partitions are paused: the process holds ${used} MiB of memory, MEMORY_MB_MAX is ${max}`;
  }
}
