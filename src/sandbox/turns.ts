import assert from 'node:assert/strict';

/** Work that waits, by owner: that of one owner first in, first out. */
class OwnerQueues {
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

  owners(): IterableIterator<string> {
    return this.#waiting.keys();
  }

  begin(owner: string): boolean {
    const [next] = this.#waiting.get(owner) ?? [];
    if (next === undefined) return false;
    this.#leave(owner, next);
    next();
    return true;
  }

  #leave(owner: string, place: () => void): void {
    const places = this.#waiting.get(owner);
    places?.delete(place);
    if (places?.size === 0) this.#waiting.delete(owner);
  }
}

export interface TurnLimits {
  /** Pieces of work that run at once. */
  readonly places: number;
  /** Those of one owner, so that others need not wait for them. */
  readonly ofOwner: number;
}

const ONE_AT_A_TIME: TurnLimits = { places: 1, ofOwner: 1 };

/**
 * Lets few pieces of work run at a time. Owners take turns: first the one with the fewest that run, then the one whose
 * last began longest ago. The work of one owner runs first in, first out.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #queues = new OwnerQueues();
  /** Counts of owners whose work runs or waits. */
  readonly #held = new Map<string, { all: number; running: number; begun: number }>();
  #running = 0;
  #begun = 0;

  constructor(limits: TurnLimits = ONE_AT_A_TIME) {
    this.#limits = limits;
  }

  /** Work of an owner that runs or waits. */
  heldBy(owner: string): number {
    return this.#held.get(owner)?.all ?? 0;
  }

  /** Work of all owners that runs or waits. */
  get held(): number {
    return [...this.#held.values()].reduce((sum, { all }) => sum + all, 0);
  }

  /** Runs the work in its turn. Rejects at once when the signal aborts while it waits; its place is free then. */
  async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const own = this.#held.get(owner) ?? { all: 0, running: 0, begun: 0 };
    this.#held.set(owner, own);
    own.all++;
    try {
      if (this.#hasPlace(owner)) this.#begin(owner);
      else await this.#queues.wait(owner, signal);
      try {
        return await work();
      } finally {
        own.running--;
        this.#running--;
        this.#beginNext();
      }
    } finally {
      own.all--;
      if (own.all === 0) this.#held.delete(owner);
    }
  }

  #hasPlace(owner: string): boolean {
    const { places, ofOwner } = this.#limits;
    return this.#running < places && (this.#held.get(owner)?.running ?? 0) < ofOwner;
  }

  #begin(owner: string): void {
    const own = this.#held.get(owner);
    assert(own !== undefined, 'work that waits is held');
    own.running++;
    own.begun = ++this.#begun;
    this.#running++;
  }

  #beginNext(): void {
    const [next] = [...this.#queues.owners()]
      .filter((owner) => this.#hasPlace(owner))
      .map((owner) => ({ owner, ...this.#held.get(owner)! }))
      .sort((a, b) => a.running - b.running || a.begun - b.begun);
    if (next === undefined) return;
    // From now on, not from when it runs: no other work runs in between.
    this.#begin(next.owner);
    this.#queues.begin(next.owner);
    this.#beginNext();
  }
}
