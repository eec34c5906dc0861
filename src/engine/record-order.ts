/** Time that others wait for a partition that has records on their way, or was not read so far, or cannot commit. */
const [BEHIND_MS_MAX, UNREAD_MS_MAX, STALLED_MS_MAX] = [10_000, 5_000, 30_000];

/** Interval at which their waiting time is checked. */
const LOOK_MS = 500;

interface OrderedPartition {
  /** Time of its oldest record that is not committed; null while there is none. */
  frontMs: number | null;
  /** Without a record it keeps the others waiting until then. */
  waitUntilMs: number;
  /** It was about to take records, or has committed some. */
  aliveMs: number;
  readonly wake: () => void;
}

interface RecordOrderOptions {
  /** No partition is passed on further ahead of another one. */
  readonly aheadMs: number;
  readonly nowMs: () => number;
}

/**
 * Partitions of an input that one worker passes on in the order of their record times, the oldest first: a series
 * without keys is in several of them, and what is passed on after a newer observation of it is late.
 *
 *   partition 0   12:00  12:02  12:04          12:00 of 0, then 12:01 of 1, then 12:02 of 0, ...
 *   partition 1   12:01  12:03  12:05
 */
export class RecordOrder {
  readonly #options: RecordOrderOptions;
  readonly #places = new Map<number, OrderedPartition>();
  /** Partitions of which all was delivered, when they were last fetched. */
  readonly #read = new Set<number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RecordOrderOptions) {
    this.#options = options;
  }

  /** @param wake called whenever the partition may be allowed more */
  enter(partition: number, wake: () => void): void {
    this.#read.delete(partition);
    const nowMs = this.#options.nowMs();
    this.#places.set(partition, { frontMs: null, waitUntilMs: nowMs + UNREAD_MS_MAX, aliveMs: nowMs, wake });
  }

  leave(partition: number): void {
    this.#places.delete(partition);
    this.#wakeAll();
  }

  /** A fetch has delivered the records before `nextOffset`, of `endOffset` that there are. */
  fetched(
    partition: number,
    { nextOffset, endOffset }: { readonly nextOffset: number; readonly endOffset: number },
  ): void {
    if (nextOffset >= endOffset) this.#read.add(partition);
    else this.#read.delete(partition);
    const place = this.#places.get(partition);
    if (place?.frontMs === null) this.#empty(partition, place);
  }

  /** Called whenever the oldest record of a partition that is not committed may be another one. */
  setFront(partition: number, frontMs: number | null): void {
    const place = this.#places.get(partition);
    if (place === undefined || place.frontMs === frontMs) return;
    place.frontMs = frontMs;
    place.aliveMs = this.#options.nowMs();
    if (frontMs === null) this.#empty(partition, place);
    this.#wakeAll();
  }

  /**
   * The newest time of a record of the partition that may be passed on now.
   * @param isFree no transaction of it is on its way
   */
  limitOf(partition: number, isFree: boolean): number {
    const { aheadMs, nowMs: clock } = this.#options;
    const nowMs = clock();
    let limitMs = Number.POSITIVE_INFINITY;
    for (const [other, place] of this.#places) {
      if (other === partition) {
        if (isFree) place.aliveMs = nowMs;
        continue;
      }
      const { frontMs, waitUntilMs, aliveMs } = place;
      const untilMs = frontMs === null ? waitUntilMs : aliveMs + STALLED_MS_MAX;
      if (nowMs >= untilMs) continue;
      this.#lookAgain();
      limitMs = Math.min(limitMs, frontMs === null ? Number.NEGATIVE_INFINITY : frontMs + aheadMs);
    }
    return limitMs;
  }

  #empty(partition: number, place: OrderedPartition): void {
    place.waitUntilMs = this.#read.has(partition) ? 0 : this.#options.nowMs() + BEHIND_MS_MAX;
    this.#wakeAll();
  }

  #lookAgain(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#wakeAll();
    }, LOOK_MS).unref();
  }

  #wakeAll(): void {
    for (const { wake } of this.#places.values()) wake();
  }
}
