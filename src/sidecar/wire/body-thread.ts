import { Worker } from 'node:worker_threads';
import { HttpProblem, overloaded } from './problem.ts';
import type { WireReading } from './wire-body.ts';

export interface BodyTask {
  readonly bytes: Uint8Array;
  /** In BODY_SCHEMAS. */
  readonly name: string;
}

interface Waiting {
  resolve(reading: WireReading): void;
  reject(error: Error): void;
}

/** Room for the numbers of the largest body while they are objects. */
const HEAP_MB_MAX = 4_096;

/** The main thread's end of the thread that reads large bodies. It starts with the first of them, and anew when it was lost. */
export class BodyThread {
  #worker: Worker | null = null;
  #waiting: Waiting[] = [];

  /** Reads a body; the memory of `bytes` is given away. Rejects with 413 when it needs more memory than there is. */
  read(bytes: Buffer, name: string): Promise<WireReading> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    // Only a thread that is waited for keeps the process alive.
    worker.ref();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      const task: BodyTask = { bytes, name };
      const owned = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
      worker.postMessage(task, owned ? [bytes.buffer as ArrayBuffer] : []);
    });
  }

  async close(): Promise<void> {
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
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = null;
      const tooLarge = cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
      const [reading, ...others] = this.#waiting.splice(0);
      reading?.reject(tooLarge ? new HttpProblem(413, 'The body holds more than can be read at once') : cause);
      // What waited behind it is lost, too, through no fault of its own.
      for (const { reject } of others) reject(overloaded('The body could not be read now, try again'));
    });
    return worker;
  }
}
