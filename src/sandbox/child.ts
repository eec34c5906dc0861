/** The child process of a sandbox: loads the program, then does one piece of work after the other. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import { type FrameKind, FrameReader, frameBytes } from './frames.ts';
import type { Sandboxed, SandboxWork } from './program.ts';

/** The child's end of the socket pair. Standard output is not used, because a library may print to it. */
const LINK_FD = 3;

const [entry, parentPid, inputBytesMax] = process.argv.slice(2);
const link = new Socket({ fd: LINK_FD, readable: true, writable: true });
const reader = new FrameReader(Number(inputBytesMax));
let work: SandboxWork | null = null;
let running: AbortController | null = null;

function send(kind: FrameKind, payload?: Uint8Array): void {
  for (const piece of frameBytes(kind, payload)) link.write(piece);
}

async function prepare(setup: Uint8Array): Promise<void> {
  const { sandboxed } = (await import(entry)) as { readonly sandboxed: Sandboxed };
  work = await sandboxed(setup);
  send('ready');
}

async function answer(input: Uint8Array): Promise<void> {
  assert(work !== null && running === null, 'a sandbox does one piece of work at a time');
  running = new AbortController();
  try {
    const { signal } = running;
    send('output', await work(input, { signal, progress: (bytes) => send('progress', bytes) }));
  } catch (error) {
    send('problem', Buffer.from(inspect(error)));
  }
  running = null;
}

link.on('data', (chunk) => {
  const reading = reader.accept(chunk);
  assert(reading.kind === 'frames', 'a parent writes frames');
  for (const { kind, payload } of reading.frames) {
    if (kind === 'setup') void prepare(payload);
    if (kind === 'input') void answer(payload);
    if (kind === 'stop') running?.abort(new Error('the result is not wanted any more'));
  }
});
// The parent has ended.
link.on('close', () => process.kill(process.pid, 'SIGKILL'));
link.pause();
const watchdog = new Worker(new URL('./watchdog.ts', import.meta.url), { workerData: Number(parentPid) });
// Work that never yields would keep the watchdog from starting.
await once(watchdog, 'online');
watchdog.unref();
link.resume();
