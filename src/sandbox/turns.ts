/** Work that waits, by owner: that of one owner first in, first out. */
export class OwnerQueues {
  /** In the order of turns. */
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Waits for its turn. Rejects at once when the signal aborts; its place is free then. */
  async wait(owner: string, signal: AbortSignal): Promise<void> {
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

  /** Begins the next work of the owner, or of the owner whose turn it is; false where none waits. */
  begin(owner = this.#waiting.keys().next().value): boolean {
    if (owner === undefined) return false;
    const places = this.#waiting.get(owner);
    const [next] = places ?? [];
    if (places === undefined || next === undefined) return false;
    this.#leave(owner, next);
    // The owner goes to the end of the turns.
    if (places.size > 0) {
      this.#waiting.delete(owner);
      this.#waiting.set(owner, places);
    }
    next();
    return true;
  }

  #leave(owner: string, place: () => void): void {
    const places = this.#waiting.get(owner);
    places?.delete(place);
    if (places?.size === 0) this.#waiting.delete(owner);
  }
}

/** Lets one piece of work run at a time. Owners take turns; the work of one owner runs first in, first out. */
export class Turns {
  readonly #queues = new OwnerQueues();
  readonly #held = new Map<string, number>();
  #busy = false;

  /** Work of an owner that runs or waits. */
  heldBy(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  /** Work of all owners that runs or waits. */
  get held(): number {
    return [...this.#held.values()].reduce((sum, held) => sum + held, 0);
  }

  /** Runs the work in its turn. Rejects at once when the signal aborts while it waits; its place is free then. */
  async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    this.#held.set(owner, this.heldBy(owner) + 1);
    try {
      if (this.#busy) await this.#queues.wait(owner, signal);
      this.#busy = true;
      try {
        return await work();
      } finally {
        // From now on, not from when the next one runs: nobody may come between.
        this.#busy = this.#queues.begin();
      }
    } finally {
      const left = this.heldBy(owner) - 1;
      if (left > 0) this.#held.set(owner, left);
      else this.#held.delete(owner);
    }
  }
}
