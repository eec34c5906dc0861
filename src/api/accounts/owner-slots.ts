import { OwnerQueues } from '../../sandbox/turns.ts';
import { OpenCounts } from './open-counts.ts';

/** Limits how much work of one owner runs at once. Further work waits, first in, first out. */
export class OwnerSlots {
  readonly #slotsMax: number;
  readonly #running = new OpenCounts();
  readonly #queues = new OwnerQueues();

  constructor(slotsMax: number) {
    this.#slotsMax = slotsMax;
  }

  /**
   * Runs the work once a slot is free. Rejects at once when the signal aborts while it waits; its place is free then.
   */
  async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#running.of(owner) < this.#slotsMax) this.#running.add(owner);
    else await this.#queues.wait(owner, signal);
    try {
      return await work();
    } finally {
      // The slot goes to the next work at once, so that nobody comes between.
      if (!this.#queues.begin(owner)) this.#running.remove(owner);
    }
  }
}
