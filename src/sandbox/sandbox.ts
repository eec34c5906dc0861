import assert from 'node:assert/strict';
import type { SandboxProgram } from './program.ts';
import { RunningChild } from './running-child.ts';
import { SANDBOX_LIMITS, type SandboxLimits, type SandboxOutcome, type SandboxRun } from './sandbox-run.ts';

/** A child that holds more than this share of its memory limit after its work is replaced. */
const HEALTHY_SHARE = 0.5;
const BYTES_PER_MIB = 1024 * 1024;

/**
 * A child process with limits that does one piece of work at a time. A failure of the work is a value. The child is
 * reused, because its setup is costly; after it was killed or has ended, the next work starts a new one.
 */
export class Sandbox {
  readonly #program: SandboxProgram;
  readonly #limits: SandboxLimits;
  #child: RunningChild | null = null;
  #busy = false;
  #idle: NodeJS.Timeout | null = null;

  constructor(program: SandboxProgram, limits: Partial<SandboxLimits> = {}) {
    this.#program = program;
    this.#limits = { ...SANDBOX_LIMITS, ...limits };
  }

  /** Never rejects because of the child. A killed child has ended when this resolves. */
  async run(input: Uint8Array, run: SandboxRun): Promise<SandboxOutcome> {
    assert(!this.#busy, 'a sandbox does one piece of work at a time');
    if (run.signal?.aborted === true) return { kind: 'stopped' };
    this.#busy = true;
    if (this.#idle !== null) clearTimeout(this.#idle);
    try {
      return await this.#runInChild(input, run);
    } catch (error) {
      // The child could not be started: that is the end of this work, not of those after it.
      return { kind: 'ended', text: String((error as Error).stack ?? error) };
    } finally {
      this.#idle = setTimeout(() => void this.#replace(), this.#limits.idleMsMax).unref();
      this.#busy = false;
    }
  }

  async #runInChild(input: Uint8Array, run: SandboxRun): Promise<SandboxOutcome> {
    if (this.#child === null || this.#child.ended) this.#child = new RunningChild(this.#program, this.#limits);
    const child = this.#child;
    const outcome = await child.work(input, run);
    const healthy =
      !child.ended && (await child.memoryBytes()) <= this.#limits.memoryMbMax * BYTES_PER_MIB * HEALTHY_SHARE;
    if (!healthy) await this.#replace();
    return outcome;
  }

  /** Kills the child and waits until it has ended. */
  async close(): Promise<void> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    await this.#replace();
  }

  async #replace(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    await child?.kill();
  }
}
