import { type Child, residentBytes, startChild } from './child-process.ts';
import { type Frame, type FrameKind, FrameReader, frameBytes } from './frames.ts';
import type { SandboxProgram } from './program.ts';
import type { SandboxLimits, SandboxOutcome, SandboxRun } from './sandbox-run.ts';

const BYTES_PER_MIB = 1024 * 1024;

/** A child process from its start to its end. */
export class RunningChild {
  readonly #child: Child;
  readonly #limits: SandboxLimits;
  readonly #reader: FrameReader;
  readonly #closed: Promise<unknown>;
  #ready = false;
  #ended = false;
  /** Why the child was killed by this process; null: it was not. */
  #killedFor: SandboxOutcome | null = null;
  #onFrame: (frame: Frame) => void = () => {};

  constructor(program: SandboxProgram, limits: SandboxLimits) {
    this.#limits = limits;
    this.#reader = new FrameReader(limits.outputBytesMax);
    this.#child = startChild(program, limits);
    const { process, link } = this.#child;
    this.#closed = new Promise<void>((resolve) => {
      const end = () => {
        this.#ended = true;
        resolve();
      };
      process.once('close', end);
      process.once('error', end);
    });
    link.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#send('setup', program.setup);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** 0 if it is unknown. */
  async memoryBytes(): Promise<number> {
    const { pid } = this.#child.process;
    return (pid === undefined ? null : await residentBytes(pid)) ?? 0;
  }

  /** Resolves when the child has ended. Running work is stopped. */
  async kill(): Promise<void> {
    this.#end({ kind: 'stopped' });
    await this.#closed;
  }

  /** Resolves with the result of the work, or when the child has ended. */
  async work(input: Uint8Array, { timeoutMs, signal, onProgress }: SandboxRun): Promise<SandboxOutcome> {
    const { startMsMax, stopMsMax, memoryCheckMs } = this.#limits;
    const { promise: answered, resolve: answer } = Promise.withResolvers<SandboxOutcome>();
    const killAfter = (ms: number, outcome: SandboxOutcome) => setTimeout(() => this.#end(outcome), ms);
    let deadline = killAfter(startMsMax, { kind: 'ended', text: `it was not ready after ${startMsMax} ms` });
    const begin = () => {
      this.#ready = true;
      clearTimeout(deadline);
      deadline = killAfter(timeoutMs, { kind: 'timeout' });
      this.#send('input', input);
    };
    const stop = () => {
      if (!this.#ready) return this.#end({ kind: 'stopped' });
      this.#send('stop');
      clearTimeout(deadline);
      deadline = killAfter(stopMsMax, { kind: 'stopped' });
    };
    this.#onFrame = ({ kind, payload }) => {
      if (kind === 'ready') begin();
      else if (kind === 'progress') onProgress?.(payload);
      else if (kind === 'output') answer({ kind: 'output', output: payload });
      else if (kind === 'problem') answer({ kind: 'problem', text: payload.toString() });
    };
    if (this.#ready) begin();
    const memoryCheck = setInterval(() => void this.#checkMemory(), memoryCheckMs);
    signal?.addEventListener('abort', stop, { once: true });
    const outcome = await Promise.race([answered, this.#closed.then(() => this.#killedFor ?? this.#howItEnded())]);
    signal?.removeEventListener('abort', stop);
    clearInterval(memoryCheck);
    clearTimeout(deadline);
    this.#onFrame = () => {};
    // An output after the abort is discarded.
    return signal?.aborted === true ? { kind: 'stopped' } : outcome;
  }

  #send(kind: FrameKind, payload?: Uint8Array): void {
    for (const piece of frameBytes(kind, payload)) this.#child.link.write(piece);
  }

  #read(chunk: Buffer): void {
    if (this.#killedFor !== null) return;
    const reading = this.#reader.accept(chunk);
    if (reading.kind === 'frames') for (const frame of reading.frames) this.#onFrame(frame);
    else if (reading.kind === 'too-large') this.#end({ kind: 'output-too-large' });
    else this.#end({ kind: 'ended', text: 'it wrote bytes that are no frame' });
  }

  #end(outcome: SandboxOutcome): void {
    this.#killedFor ??= outcome;
    this.#child.process.kill('SIGKILL');
  }

  async #checkMemory(): Promise<void> {
    if ((await this.memoryBytes()) > this.#limits.memoryMbMax * BYTES_PER_MIB) this.#end({ kind: 'out-of-memory' });
  }

  #howItEnded(): SandboxOutcome {
    const { exitCode, signalCode } = this.#child.process;
    const stderrTail = this.#child.stderrTail();
    // V8 prints this before it aborts the process. A SIGKILL that this process did not send is the kernel's, out of
    // memory.
    if (/heap out of memory/.test(stderrTail) || signalCode === 'SIGKILL') return { kind: 'out-of-memory' };
    const how = signalCode === null ? `with code ${exitCode}` : `by ${signalCode}`;
    return { kind: 'ended', text: `it ended unexpectedly ${how}: ${stderrTail.trim()}` };
  }
}
