/** The child yields to request handling. */
const NICENESS = 10;

export const SANDBOX_LIMITS = {
  /**
   * Resident memory of the child, MiB, checked every `memoryCheckMs` where there is a /proc. Above it the child is
   * killed.
   */
  memoryMbMax: 4_096,
  /** JavaScript heap, MiB. Above it the child ends itself, on every platform. */
  heapMbMax: 2_048,
  inputBytesMax: 512 * 1024 * 1024,
  /** A larger output is refused, and the child is killed. */
  outputBytesMax: 512 * 1024 * 1024,
  memoryCheckMs: 50,
  /** Time limit of the setup. */
  startMsMax: 60_000,
  /** Grace period after a stop; then the child is killed. */
  stopMsMax: 1_000,
  /** An idle child ends after this time, to free its memory. */
  idleMsMax: 60_000,
  /** Priority of the child: 0 as this process, up to 19, which runs on idle processors only. */
  niceness: NICENESS,
};
export type SandboxLimits = Readonly<typeof SANDBOX_LIMITS>;

export interface SandboxRun {
  /** Time limit of the work, without the start of the child. Then the child is killed. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (bytes: Buffer) => void;
}

export type SandboxOutcome =
  | { readonly kind: 'output'; readonly output: Buffer }
  /** The program threw. `text` has stack and causes, for the log. */
  | { readonly kind: 'problem'; readonly text: string }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'out-of-memory' }
  | { readonly kind: 'output-too-large' }
  /** The child ended unexpectedly, did not start, or wrote no frame. `text` is for the log. */
  | { readonly kind: 'ended'; readonly text: string };
