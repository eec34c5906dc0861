import { type Child, residentBytes, startChild } from './child-process.ts';
import { type Frame, type FrameKind, FrameReader, frameBytes } from './frames.ts';
import type { SandboxProgram } from './program.ts';
import type { SandboxLimits, SandboxOutcome, SandboxRun } from './sandbox-run.ts';

const BYTES_PER_MIB = 1024 * 1024;

/** One child from its start to its end. */
export class RunningChild {
  readonly #child: Child;
  readonly #limits: SandboxLimits;
  readonly #reader: FrameReader;
  readonly #gone: Promise<unknown>;
  #ready = false;
  #ended = false;
  /** Why it was killed, when we did it. */
  #verdict: SandboxOutcome | null = null;
  #onFrame: (frame: Frame) => void = () => {};

  constructor({ entry, setup, readable }: SandboxProgram, limits: SandboxLimits) {
    const { heapMbMax, inputBytesMax, outputBytesMax } = limits;
    this.#limits = limits;
    this.#reader = new FrameReader(outputBytesMax);
    this.#child = startChild({ entry, readable, heapMbMax, inputBytesMax });
    const { process, link } = this.#child;
    this.#gone = new Promise<void>((resolve) => {
      const end = () => {
        this.#ended = true;
        resolve();
      };
      process.once('close', end);
      process.once('error', end);
    });
    link.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#say('setup', setup);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** 0 where that cannot be known. */
  async memoryBytes(): Promise<number> {
    const { pid } = this.#child.process;
    return (pid === undefined ? null : await residentBytes(pid)) ?? 0;
  }

  /** Resolves when it has ended; work that was under way was stopped. */
  async kill(): Promise<void> {
    this.#end({ kind: 'stopped' });
    await this.#gone;
  }

  /** Gives the outcome when it stands: with the answer, or when the child has ended. */
  async work(input: Uint8Array, { timeoutMs, signal, onProgress }: SandboxRun): Promise<SandboxOutcome> {
    const { startMsMax, stopMsMax, memoryCheckMs } = this.#limits;
    const { promise: answered, resolve: answer } = Promise.withResolvers<SandboxOutcome>();
    const killAfter = (ms: number, verdict: SandboxOutcome) => setTimeout(() => this.#end(verdict), ms);
    let deadline = killAfter(startMsMax, { kind: 'ended', text: `it was not ready after ${startMsMax} ms` });
    const begin = () => {
      this.#ready = true;
      clearTimeout(deadline);
      deadline = killAfter(timeoutMs, { kind: 'timeout' });
      this.#say('input', input);
    };
    const stop = () => {
      if (!this.#ready) return this.#end({ kind: 'stopped' });
      this.#say('stop');
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
    const watch = setInterval(() => void this.#checkMemory(), memoryCheckMs);
    signal?.addEventListener('abort', stop, { once: true });
    const outcome = await Promise.race([answered, this.#gone.then(() => this.#verdict ?? this.#howItEnded())]);
    signal?.removeEventListener('abort', stop);
    clearInterval(watch);
    clearTimeout(deadline);
    this.#onFrame = () => {};
    // Nobody wants what was made in spite of the signal.
    return signal?.aborted === true ? { kind: 'stopped' } : outcome;
  }

  #say(kind: FrameKind, payload?: Uint8Array): void {
    for (const piece of frameBytes(kind, payload)) this.#child.link.write(piece);
  }

  #read(chunk: Buffer): void {
    if (this.#verdict !== null) return;
    const reading = this.#reader.push(chunk);
    if (reading.kind === 'frames') for (const frame of reading.frames) this.#onFrame(frame);
    else if (reading.kind === 'too-large') this.#end({ kind: 'output-too-large' });
    else this.#end({ kind: 'ended', text: 'it said what is no frame' });
  }

  #end(verdict: SandboxOutcome): void {
    this.#verdict ??= verdict;
    this.#child.process.kill('SIGKILL');
  }

  async #checkMemory(): Promise<void> {
    if ((await this.memoryBytes()) > this.#limits.memoryMbMax * BYTES_PER_MIB) this.#end({ kind: 'out-of-memory' });
  }

  #howItEnded(): SandboxOutcome {
    const { exitCode, signalCode } = this.#child.process;
    const complaints = this.#child.complaints();
    // V8 says so before it aborts the process; the kernel kills without a word, and nobody else kills.
    if (/heap out of memory/.test(complaints) || signalCode === 'SIGKILL') return { kind: 'out-of-memory' };
    const how = signalCode === null ? `with code ${exitCode}` : `by ${signalCode}`;
    return { kind: 'ended', text: `it ended by itself ${how}: ${complaints.trim()}` };
  }
}
