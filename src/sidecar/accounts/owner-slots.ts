/** Limits how much work of one owner runs at once. Further work waits, first in, first out. */
export class OwnerSlots {
  readonly #slotsMax: number;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(slotsMax: number) {
    this.#slotsMax = slotsMax;
  }

  /**
   * Runs the work once a slot is free. Rejects at once when the signal aborts while it waits; its place is free then.
   */
  async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const running = this.#running.get(owner) ?? 0;
    if (running < this.#slotsMax) this.#running.set(owner, running + 1);
    else await this.#wait(owner, signal);
    try {
      return await work();
    } finally {
      this.#passOn(owner);
    }
  }

  /** The slot is passed on by whoever frees it, so that nobody comes between. */
  async #wait(owner: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const places = this.#waiting.get(owner) ?? new Set();
    this.#waiting.set(owner, places.add(resolve));
    const onAbort = () => {
      this.#leave(owner, resolve);
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #passOn(owner: string): void {
    const [next] = this.#waiting.get(owner) ?? [];
    if (next !== undefined) {
      this.#leave(owner, next);
      next();
      return;
    }
    const left = (this.#running.get(owner) ?? 1) - 1;
    if (left > 0) this.#running.set(owner, left);
    else this.#running.delete(owner);
  }

  #leave(owner: string, place: () => void): void {
    const places = this.#waiting.get(owner);
    places?.delete(place);
    if (places?.size === 0) this.#waiting.delete(owner);
  }
}
