import { OwnerQueues } from '../../sandbox/turns.ts';

/** Limits how much work of one owner runs at once. Further work waits, first in, first out. */
export class OwnerSlots {
  readonly #slotsMax: number;
  readonly #running = new Map<string, number>();
  readonly #queues = new OwnerQueues();

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
    else await this.#queues.wait(owner, signal);
    try {
      return await work();
    } finally {
      this.#passOn(owner);
    }
  }

  #passOn(owner: string): void {
    // The slot goes to the next work at once, so that nobody comes between.
    if (this.#queues.begin(owner)) return;
    const left = (this.#running.get(owner) ?? 1) - 1;
    if (left > 0) this.#running.set(owner, left);
    else this.#running.delete(owner);
  }
}
