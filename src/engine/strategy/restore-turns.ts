import { unlessAborted } from '../../kafka/cluster/retry.ts';

/** Turn of one partition. */
interface RestoreTurn {
  /** Resolves once it is its turn, which lasts until `end`. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<void>;
  /** Also if the turn was never taken, or is waited for. */
  end(): void;
}

/**
 * Lets one partition of a worker restore at a time, in the order of asking: each holds what it has read until it knows
 * all open states, which together would be more memory than the states.
 */
export class RestoreTurns {
  /** Resolves when all turns that were asked for have ended. */
  #ended = Promise.resolve();

  open(): RestoreTurn {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let begun: Promise<void> | null = null;
    return {
      take: async (signal) => {
        signal.throwIfAborted();
        if (begun === null) {
          begun = this.#ended;
          this.#ended = begun.then(() => ended);
        }
        await unlessAborted(signal, begun);
      },
      end,
    };
  }
}
