import { Worker } from 'node:worker_threads';
import { HttpProblem, overloaded } from '../problem.ts';
import type { WireReading } from './wire-body.ts';

export interface BodyTask {
  readonly bytes: Uint8Array;
  /** Its name in BODY_SCHEMAS. */
  readonly name: string;
}

interface WaitingBody {
  resolve(reading: WireReading): void;
  reject(error: Error): void;
}

/** Heap for the largest body as JavaScript values. */
const HEAP_MB_MAX = 1_024;

/**
 * Parses large bodies on a worker thread. It starts with the first body, and is replaced at once if it ends.
 */
export class BodyThread {
  #worker: Worker | null = null;
  #waiting: WaitingBody[] = [];
  #trouble: string | null = null;
  #closed = false;

  /** Why bodies cannot be read now; null when they can. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /**
   * Parses a body; the memory of `bytes` is transferred. Rejects with 413 when the body exceeds the heap of the thread.
   */
  read(bytes: Buffer, name: string): Promise<WireReading> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    // The thread keeps the process alive only while a body waits for it.
    worker.ref();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      const task: BodyTask = { bytes, name };
      const owned = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
      worker.postMessage(task, owned ? [bytes.buffer as ArrayBuffer] : []);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL('./body-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    let cause: Error & { readonly code?: string } = new Error('the thread that reads bodies ended');
    worker.on('message', (reading: WireReading) => {
      this.#waiting.shift()?.resolve(reading);
      if (this.#waiting.length === 0) worker.unref();
    });
    worker.on('error', (error: Error) => {
      cause = error;
    });
    worker.on('online', () => {
      if (this.#worker === worker) this.#trouble = null;
    });
    worker.on('exit', () => {
      if (this.#worker === worker) this.#replace(cause);
      const tooLarge = cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
      const [reading, ...others] = this.#waiting.splice(0);
      reading?.reject(tooLarge ? new HttpProblem(413, 'The body holds more than can be read at once') : cause);
      // Bodies queued behind the failed one are lost as well.
      for (const { reject } of others) reject(overloaded('The body could not be read now, try again'));
    });
    return worker;
  }

  #replace(cause: Error): void {
    this.#trouble = `the thread that reads bodies ended: ${cause.message}`;
    this.#worker = this.#closed ? null : this.#start();
    this.#worker?.unref();
  }
}
