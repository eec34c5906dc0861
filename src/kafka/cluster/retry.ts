import { setTimeout as sleep } from 'node:timers/promises';

export interface Backoff {
  readonly initialMs: number;
  readonly delayMsMax: number;
  /** From the first attempt on. After that the last error is thrown. */
  readonly totalMsMax: number;
}

export interface RetryOptions {
  readonly isRetryable: (error: unknown) => boolean;
  readonly backoff: Backoff;
  /** Ends the retries. It does not interrupt an attempt. */
  readonly signal?: AbortSignal | undefined;
  /** Receives each error after which the attempt is repeated. */
  readonly onRetry?: ((error: unknown) => void) | undefined;
}

/**
 * Tries until `attempt` succeeds. Throws the first error that is not retryable, the last one after `totalMsMax`, or the
 * reason of `signal`.
 */
export async function retryWithBackoff<T>(
  attempt: () => Promise<T>,
  { isRetryable, backoff, signal, onRetry }: RetryOptions,
): Promise<T> {
  const deadlineMs = performance.now() + backoff.totalMsMax;
  for (let delayMs = backoff.initialMs; ; delayMs = Math.min(2 * delayMs, backoff.delayMsMax)) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (!isRetryable(error) || performance.now() >= deadlineMs) throw error;
      onRetry?.(error);
    }
    await sleep(delayMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
    signal?.throwIfAborted();
  }
}

/** Rejects with the reason of `signal` as soon as it aborts. Then the result of `work` does not matter any more. */
export function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
