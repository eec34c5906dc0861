import { digestOf, makeKeySecret } from '../../../store/keys/api-keys.ts';

/** Lifetime of an unused code. */
export const SIGN_IN_MS_MAX = 15 * 60_000;

/**
 * A code that signs in at the console once, instead of a key. There is one at a time, in this
 * process alone; a further one replaces it.
 */
export class SignInCode {
  #pending: { readonly digest: string; readonly keyId: string; readonly endsAtMs: number } | null = null;

  make(keyId: string, nowMs: number): string {
    const code = makeKeySecret();
    this.#pending = { digest: textOf(code), keyId, endsAtMs: nowMs + SIGN_IN_MS_MAX };
    return code;
  }

  /** The id of the key that the code is for; null if it is unknown, was used, or has expired. */
  use(code: string, nowMs: number): string | null {
    const pending = this.#pending;
    if (pending === null || pending.digest !== textOf(code)) return null;
    this.#pending = null;
    return nowMs < pending.endsAtMs ? pending.keyId : null;
  }
}

function textOf(code: string): string {
  return Buffer.from(digestOf(code)).toString('hex');
}
