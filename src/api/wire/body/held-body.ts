import type { BodyBudget } from './body-budget.ts';

/** The share of the budget that one request holds until it ends. */
export class HeldBody {
  readonly #budget: BodyBudget;
  #keyId = '';
  #bytes = 0;
  #ended = false;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Continues with bytes that were already reserved in the budget. */
  hold(keyId: string, bytes: number): void {
    this.#keyId = keyId;
    if (this.#ended) this.#budget.release(keyId, bytes);
    else this.#bytes += bytes;
  }

  /** Releases all but so many bytes. */
  shrink(bytes: number): void {
    if (this.#ended) return;
    this.#budget.release(this.#keyId, this.#bytes - bytes);
    this.#bytes = bytes;
  }

  end(): void {
    this.#ended = true;
    this.#budget.release(this.#keyId, this.#bytes);
    this.#bytes = 0;
  }
}
