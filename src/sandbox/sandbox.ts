import assert from 'node:assert/strict';
import type { SandboxProgram } from './program.ts';
import { RunningChild } from './running-child.ts';
import { SANDBOX_LIMITS, type SandboxLimits, type SandboxOutcome, type SandboxRun } from './sandbox-run.ts';

/** Memory of a child after its work, as a share of what it may hold; above it the next work begins in a new one. */
const HEALTHY_SHARE = 0.5;
const BYTES_PER_MIB = 1024 * 1024;

/**
 * A child process that does one piece of work at a time, within limits, and can do no harm when it fails. The child stays for the work that follows, since what it
 * loaded costs time; one that was killed, or ended, is replaced with the next work.
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

  /** Gives the outcome once it stands; a child that had to be killed has ended by then. Never rejects for what the child does. */
  async run(input: Uint8Array, run: SandboxRun): Promise<SandboxOutcome> {
    assert(!this.#busy, 'a sandbox does one piece of work at a time');
    if (run.signal?.aborted === true) return { kind: 'stopped' };
    this.#busy = true;
    if (this.#idle !== null) clearTimeout(this.#idle);
    if (this.#child === null || this.#child.ended) this.#child = new RunningChild(this.#program, this.#limits);
    const child = this.#child;
    const outcome = await child.work(input, run);
    const healthy =
      !child.ended && (await child.memoryBytes()) <= this.#limits.memoryMbMax * BYTES_PER_MIB * HEALTHY_SHARE;
    if (!healthy) await this.#replace();
    this.#idle = setTimeout(() => void this.#replace(), this.#limits.idleMsMax).unref();
    this.#busy = false;
    return outcome;
  }

  /** Ends the child, whatever it does, and waits until it has. */
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
