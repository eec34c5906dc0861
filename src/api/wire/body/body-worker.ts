/**
 * The worker thread that parses large bodies one after the other. On the main thread 200 MiB would block for seconds.
 */
import assert from 'node:assert/strict';
import { parentPort } from 'node:worker_threads';
import { bodyRules } from './body-schemas.ts';
import type { BodyTask } from './body-thread.ts';
import { readWireBody, type WireReading } from './wire-body.ts';

assert(parentPort !== null, 'this file is the body of a worker thread');
const port = parentPort;

port.on('message', ({ bytes, name }: BodyTask) => {
  const reading = readWireBody(bytes, bodyRules(name));
  // Given back now: this thread collects no garbage before its next body.
  (bytes.buffer as ArrayBuffer).transfer(0);
  port.postMessage(reading, columnsOf(reading));
});

/** Columns are transferred, not copied. */
function columnsOf(reading: WireReading): ArrayBuffer[] {
  if (reading.kind !== 'body') return [];
  const { series } = reading.body as {
    readonly series?: { readonly y: unknown; readonly X?: unknown[] | null; readonly X_future?: unknown[] | null };
  };
  return [series?.y, ...(series?.X ?? []), ...(series?.X_future ?? [])].flatMap((column) =>
    column instanceof Float64Array ? [column.buffer as ArrayBuffer] : [],
  );
}
