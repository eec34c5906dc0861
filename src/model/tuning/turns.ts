interface WaitingTurn {
  readonly begin: () => void;
  readonly cancel: (reason: unknown) => void;
}

/** Lets one piece of work run at a time. Owners take turns; the work of one owner runs first in, first out. */
export class Turns {
  /** In the order of turns. */
  readonly #waiting = new Map<string, Set<WaitingTurn>>();
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
      if (this.#busy) await this.#wait(owner, signal);
      this.#busy = true;
      try {
        return await work();
      } finally {
        this.#busy = false;
        this.#beginNext();
      }
    } finally {
      const left = this.heldBy(owner) - 1;
      if (left > 0) this.#held.set(owner, left);
      else this.#held.delete(owner);
    }
  }

  async #wait(owner: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve: begin, reject: cancel } = Promise.withResolvers<void>();
    const place: WaitingTurn = { begin, cancel };
    const places = this.#waiting.get(owner) ?? new Set();
    this.#waiting.set(owner, places.add(place));
    const onAbort = () => {
      this.#leave(owner, place);
      cancel(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #beginNext(): void {
    for (const [owner, places] of this.#waiting) {
      for (const place of places) {
        this.#leave(owner, place);
        // The owner goes to the end of the turns.
        if (places.size > 0) {
          this.#waiting.delete(owner);
          this.#waiting.set(owner, places);
        }
        // From now on, not from when the promise has been awaited: nobody may come between.
        this.#busy = true;
        place.begin();
        return;
      }
    }
  }

  #leave(owner: string, place: WaitingTurn): void {
    const places = this.#waiting.get(owner);
    places?.delete(place);
    if (places?.size === 0) this.#waiting.delete(owner);
  }
}
