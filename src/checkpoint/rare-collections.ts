import { setFlagsFromString } from 'node:v8';
import { discardChunks } from './window-records.ts';

/** A flag of V8 that is off unless it is set. */
export const COUNTED_BUFFERS = 'external-memory-accounted-in-global-limit';

let running = 0;

/**
 * Runs what fills much memory with what stays. V8 marks the whole heap whenever buffers have grown by 64 MiB: for a
 * restore that is a fifth of the processor time with 100,000 series, and a larger share with more. Buffers that count
 * as a part of the heap may grow by a share of it first. Afterwards they do not: what batches leave behind would be
 * collected late.
 */
export async function withRareCollections<T>(work: () => Promise<T>): Promise<T> {
  if (running++ === 0) setFlagsFromString(`--${COUNTED_BUFFERS}`);
  try {
    return await work();
  } finally {
    if (--running === 0) {
      setFlagsFromString(`--no-${COUNTED_BUFFERS}`);
      discardChunks();
    }
  }
}
