export interface SandboxLimits {
  /** Memory of the child, everything together, MiB; looked at every `memoryCheckMs`, where there is a /proc. Beyond it the child is killed. */
  readonly memoryMbMax: number;
  /** Its heap of JavaScript, MiB; beyond it the child ends itself, on every platform. */
  readonly heapMbMax: number;
  readonly inputBytesMax: number;
  /** A larger output is refused, and the child killed. */
  readonly outputBytesMax: number;
  readonly memoryCheckMs: number;
  /** How long the program may take to make itself ready. */
  readonly startMsMax: number;
  /** How long work goes on after it was told to stop; then the child is killed. */
  readonly stopMsMax: number;
  /** How long a child waits for its next work; then it ends, and gives its memory back. */
  readonly idleMsMax: number;
}

export const SANDBOX_LIMITS: SandboxLimits = {
  memoryMbMax: 4_096,
  heapMbMax: 2_048,
  inputBytesMax: 512 * 1024 * 1024,
  outputBytesMax: 512 * 1024 * 1024,
  memoryCheckMs: 50,
  startMsMax: 60_000,
  stopMsMax: 1_000,
  idleMsMax: 60_000,
};

export interface SandboxRun {
  /** How long the work may take; the start of a child does not count. Then the child is killed. */
  readonly timeoutMs: number;
  /** Stops the work. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (bytes: Buffer) => void;
}

export type SandboxOutcome =
  | { readonly kind: 'output'; readonly output: Buffer }
  /** The program threw; what it threw, with stack and causes, is for the log. */
  | { readonly kind: 'problem'; readonly text: string }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'out-of-memory' }
  | { readonly kind: 'output-too-large' }
  /** The child ended by itself, could not start, or said what cannot be understood. `text` is for the log. */
  | { readonly kind: 'ended'; readonly text: string };
