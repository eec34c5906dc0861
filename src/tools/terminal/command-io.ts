/** The terminal of a command. Results go to `out`, everything else to `err`. */
export interface CommandIo {
  out(line: string): void;
  err(line: string): void;
  /** Replaces the last line of a terminal, until the next line of `err`; absent if no terminal is attached. */
  readonly status?: (text: string) => void;
  /** Aborts on Ctrl-C and SIGTERM. The name of the signal is its reason. */
  readonly stop: AbortSignal;
}

export const DONE = 0;
export const FAILED = 1;
export const WRONG_USE = 2;

export type ExitCode = typeof DONE | typeof FAILED | typeof WRONG_USE;

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Waits for an orderly shutdown, at most `ms`. What is not committed by then is scored again by the next owner. */
export async function withDeadline(ending: Promise<void>, ms: number): Promise<void> {
  const { promise: expired, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([ending, expired]);
  clearTimeout(timer);
}
