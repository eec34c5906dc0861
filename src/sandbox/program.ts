/** Signal and progress of one piece of work. */
export interface WorkContext {
  /** Aborts when the result is no longer needed. A child that continues is killed soon after. */
  readonly signal: AbortSignal;
  /** Reports progress, in bytes of the program's own format. */
  progress(bytes: Uint8Array): void;
}

/**
 * Computes output bytes from input bytes. An exception is a failure of the program; the caller gets its stack, for the
 * log.
 */
export type SandboxWork = (input: Uint8Array, context: WorkContext) => Promise<Uint8Array>;

/**
 * The entry point of a sandboxed program, exported as `sandboxed`. It is called once in each child, with `setup`,
 * before the first piece of work. It does the costly preparation that all work shares.
 */
export type Sandboxed = (setup: Uint8Array) => Promise<SandboxWork>;

export interface SandboxProgram {
  /** The module that exports `sandboxed`. */
  readonly entry: URL;
  /** Argument of `sandboxed`. */
  readonly setup: Uint8Array;
  /** Readable folders and files, in addition to the program's sources and packages. Nothing is writable. */
  readonly readable: readonly string[];
}
