/** Partitions of a worker that restore large states at once. While one waits for the broker, the other decodes. */
const TURNS_MAX = 2;

/** Turn of one partition. */
interface RestoreTurn {
  /** Resolves once it is its turn, which lasts until `end`. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<void>;
  end(): void;
}

/**
 * Lets few partitions restore at once, in the order of asking: each holds what it has read until it knows all open
 * states, which together would be more memory than the states.
 */
export class RestoreTurns {
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  open(): RestoreTurn {
    let taken = false;
    return {
      take: async (signal) => {
        signal.throwIfAborted();
        if (taken) return;
        if (this.#taken === TURNS_MAX) await this.#wait(signal);
        else this.#taken++;
        taken = true;
      },
      end: () => {
        if (!taken) return;
        taken = false;
        const next = this.#waiting.shift();
        if (next === undefined) this.#taken--;
        else next();
      },
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(begin), 1);
      reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.push(begin);
    return promise;
  }
}
