import { BodyThread } from './body-thread.ts';
import type { WireReading } from './wire-body.ts';

const THREADS = 2;

interface QueuedBody {
  readonly bytes: Buffer;
  readonly name: string;
  readonly resolve: (reading: Promise<WireReading>) => void;
}

/**
 * Reads large bodies on threads, one body a thread at a time. Owners take turns, and one thread is left to other
 * owners, so that the bodies of one, however large, do not hold up those of others.
 */
export class BodyThreads {
  readonly #threads = Array.from({ length: THREADS }, () => new BodyThread());
  readonly #free = [...this.#threads];
  /** By owner, in the order of turns. */
  readonly #waiting = new Map<string, QueuedBody[]>();
  readonly #running = new Map<string, number>();

  /** Why bodies cannot be read as they should; null when they can. */
  get trouble(): string | null {
    return this.#threads.find(({ trouble }) => trouble !== null)?.trouble ?? null;
  }

  /** Parses a body; the memory of `bytes` is transferred. Rejects with 413 when it exceeds the heap of its thread. */
  read(owner: string, bytes: Buffer, name: string): Promise<WireReading> {
    const { promise, resolve } = Promise.withResolvers<WireReading>();
    const own = this.#waiting.get(owner) ?? [];
    this.#waiting.set(owner, own);
    own.push({ bytes, name, resolve });
    this.#next();
    return promise;
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #next(): void {
    for (const [owner, bodies] of this.#waiting) {
      const running = this.#running.get(owner) ?? 0;
      if (running >= THREADS - 1) continue;
      const thread = this.#free.pop();
      if (thread === undefined) return;
      const { bytes, name, resolve } = bodies.shift()!;
      // The owner goes to the end of the turns.
      this.#waiting.delete(owner);
      if (bodies.length > 0) this.#waiting.set(owner, bodies);
      this.#running.set(owner, running + 1);
      const reading = thread.read(bytes, name);
      resolve(reading);
      reading.catch(() => {}).finally(() => this.#freed(owner, thread));
    }
  }

  #freed(owner: string, thread: BodyThread): void {
    const left = (this.#running.get(owner) ?? 1) - 1;
    if (left > 0) this.#running.set(owner, left);
    else this.#running.delete(owner);
    this.#free.push(thread);
    this.#next();
  }
}
