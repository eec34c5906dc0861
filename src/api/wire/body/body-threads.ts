import { Turns } from '../../../sandbox/turns.ts';
import { BodyThread } from './body-thread.ts';
import type { WireReading } from './wire-body.ts';

const THREADS = 2;
const NEVER = new AbortController().signal;

/**
 * Reads large bodies on threads, one body a thread at a time. Owners take turns, and one thread is left to other
 * owners, so that the bodies of one, however large, do not hold up those of others.
 */
export class BodyThreads {
  readonly #threads = Array.from({ length: THREADS }, () => new BodyThread());
  readonly #free = [...this.#threads];
  readonly #turns = new Turns({ places: THREADS, ofOwner: THREADS - 1 });

  /** Why bodies cannot be read as they should; null when they can. */
  get trouble(): string | null {
    return this.#threads.find(({ trouble }) => trouble !== null)?.trouble ?? null;
  }

  /** Parses a body; the memory of `bytes` is transferred. Rejects with 413 when it exceeds the heap of its thread. */
  read(owner: string, bytes: Buffer, name: string): Promise<WireReading> {
    return this.#turns.run(owner, NEVER, async () => {
      const thread = this.#free.pop()!;
      try {
        return await thread.read(bytes, name);
      } finally {
        this.#free.push(thread);
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}
