import { MINUTE_MS } from '../../../store/ledger/usage.ts';
import { type HttpProblem, tooManyCalls } from '../../wire/problem.ts';

/** Unknown keys and sessions of one address that are looked up in a minute. */
export const UNKNOWN_SECRETS_MAX = 60;
/** Addresses that are remembered. When there are more, the one that was seen first is forgotten. */
const ADDRESSES_MAX = 10_000;

interface Attempts {
  readonly sinceMs: number;
  count: number;
}

/** Counts the unknown keys and sessions that addresses try, so that guessing costs the store nothing. */
export class UnknownSecrets {
  readonly #attempts = new Map<string, Attempts>();

  /** The answer to one more unknown secret of the address; null while it may try. */
  refusal(address: string, nowMs: number): HttpProblem | null {
    const attempts = this.#current(address, nowMs);
    if (attempts === null || attempts.count < UNKNOWN_SECRETS_MAX) return null;
    const leftMs = attempts.sinceMs + MINUTE_MS - nowMs;
    return tooManyCalls('Too many unknown keys from this address', leftMs);
  }

  /** Notes that a secret of the address is unknown. */
  note(address: string, nowMs: number): void {
    const attempts = this.#current(address, nowMs) ?? { sinceMs: nowMs, count: 0 };
    attempts.count++;
    this.#attempts.set(address, attempts);
    const [first] = this.#attempts.keys();
    if (this.#attempts.size > ADDRESSES_MAX) this.#attempts.delete(first);
  }

  #current(address: string, nowMs: number): Attempts | null {
    const attempts = this.#attempts.get(address);
    if (attempts === undefined) return null;
    if (nowMs - attempts.sinceMs < MINUTE_MS) return attempts;
    this.#attempts.delete(address);
    return null;
  }
}
