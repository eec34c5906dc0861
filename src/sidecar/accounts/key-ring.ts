import { type ApiKey, findApiKey, isUsable } from '../../store/api-keys.ts';
import type { Sql } from '../../store/database.ts';
import { digestOf } from '../../store/key-secret.ts';
import { UnknownKeys } from './unknown-keys.ts';

/** A cached key is not looked up again for this long. A revocation takes effect in every process within it. */
export const KEY_CACHED_MS = 2_000;
/** Cached keys. The cache is cleared when it is full. */
const KEYS_MAX = 10_000;

interface CachedKey {
  readonly key: ApiKey;
  readonly readMs: number;
}

/** Looks up API keys by their secrets, with a short cache. */
export class KeyRing {
  readonly #sql: Sql;
  readonly #nowMs: () => number;
  readonly #cached = new Map<string, CachedKey>();
  readonly #unknown = new UnknownKeys();

  constructor(sql: Sql, nowMs: () => number) {
    this.#sql = sql;
    this.#nowMs = nowMs;
  }

  /**
   * Returns the usable key of a secret, or null. Throws an HttpProblem 429 when the address has tried too many unknown
   * keys, a ServiceError when the store is unavailable.
   */
  async find(secret: string, address: string): Promise<ApiKey | null> {
    const nowMs = this.#nowMs();
    const digest = Buffer.from(digestOf(secret)).toString('base64');
    const cached = this.#cached.get(digest);
    const fresh = cached !== undefined && nowMs - cached.readMs < KEY_CACHED_MS;
    // A key that was found before is no guess.
    const refusal = cached === undefined ? this.#unknown.refusal(address, nowMs) : null;
    if (refusal !== null) throw refusal;
    const key = fresh ? cached.key : await findApiKey(this.#sql, secret);
    // Unknown secrets are not cached, so that a new key works at once.
    if (key === null) {
      this.#cached.delete(digest);
      this.#unknown.note(address, nowMs);
    } else if (!fresh) {
      if (this.#cached.size >= KEYS_MAX) this.#cached.clear();
      this.#cached.set(digest, { key, readMs: nowMs });
    }
    return key !== null && isUsable(key, nowMs) ? key : null;
  }
  /** Drops all cached keys, so that a change takes effect at once in this process. */
  forget(): void {
    this.#cached.clear();
  }
}
