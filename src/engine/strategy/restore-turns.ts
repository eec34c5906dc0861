/** Turn of one partition. */
interface RestoreTurn {
  /** Resolves once it is its turn, which lasts until `end`. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<void>;
  end(): void;
}

/**
 * Lets one partition of a worker restore at a time, in the order of asking: each holds what it has read until it knows
 * all open states, which together would be more memory than the states.
 */
export class RestoreTurns {
  #isTaken = false;
  readonly #waiting: (() => void)[] = [];

  open(): RestoreTurn {
    let [isOwn, isEnded] = [false, false];
    return {
      take: async (signal) => {
        signal.throwIfAborted();
        if (isOwn) return;
        if (this.#isTaken) await this.#wait(signal);
        this.#isTaken = true;
        // It may have ended before it learned that its turn has begun.
        if (isEnded) this.#next();
        else isOwn = true;
      },
      end: () => {
        if (isOwn) this.#next();
        [isOwn, isEnded] = [false, true];
      },
    };
  }

  /** Hands the turn over at once, so that no other work runs in between. */
  #next(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isTaken = false;
    else next();
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
