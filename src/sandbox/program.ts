/** What one piece of work is told and may say. */
export interface WorkContext {
  /** Aborts when the result is not wanted any more; whoever goes on after that is killed soon. */
  readonly signal: AbortSignal;
  /** Tells how far the work has come, in bytes of the program's own. */
  progress(bytes: Uint8Array): void;
}

/** Makes bytes of bytes. What it throws is a failure of the program: the caller gets its stack, for the log. */
export type SandboxWork = (input: Uint8Array, context: WorkContext) => Promise<Uint8Array>;

/**
 * A program that runs in a sandbox exports this as `sandboxed`. It is called once in each child, with what the caller gave as `setup`, before the first piece of
 * work: what is costly to make and serves every piece is made here.
 */
export type Sandboxed = (setup: Uint8Array) => Promise<SandboxWork>;

/** What runs, and with what it is made ready. */
export interface SandboxProgram {
  /** The module that exports `sandboxed` (see program.ts). */
  readonly entry: URL;
  /** Given to `sandboxed` once in each child. */
  readonly setup: Uint8Array;
  /** Folders and files that it may read, besides the sources and packages of this program. Nothing may be written. */
  readonly readable: readonly string[];
}
