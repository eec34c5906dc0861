import { setTimeout as sleep } from 'node:timers/promises';

/** Growing waits between attempts, milliseconds. */
export interface Patience {
  readonly firstMs: number;
  readonly nextMsMax: number;
  /** Waits in sum; after that the last error is thrown. */
  readonly totalMsMax: number;
}

/** Tries until it succeeds, fails with an error that is not `worthwhile`, runs out of patience, or `signal` aborts (its reason is thrown). */
export async function withPatience<T>(
  attempt: () => Promise<T>,
  worthwhile: (error: unknown) => boolean,
  patience: Patience,
  signal?: AbortSignal,
): Promise<T> {
  let waitedMs = 0;
  for (let waitMs = patience.firstMs; ; waitMs = Math.min(2 * waitMs, patience.nextMsMax)) {
    signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (!worthwhile(error) || waitedMs >= patience.totalMsMax) throw error;
    }
    await sleep(waitMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
    waitedMs += waitMs;
  }
}
