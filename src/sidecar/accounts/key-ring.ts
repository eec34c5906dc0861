import { type ApiKey, findApiKey, isUsable } from '../../store/api-keys.ts';
import type { Sql } from '../../store/database.ts';
import { digestOf } from '../../store/key-secret.ts';

/** For so long a key is not looked up again: then a revocation is known in every process. */
export const KEY_CACHED_MS = 2_000;
/** Keys that are remembered; beyond it all are looked up anew. */
const KEYS_MAX = 10_000;

interface CachedKey {
  readonly key: ApiKey;
  readonly readMs: number;
}

/** Finds the keys of requests. */
export class KeyRing {
  readonly #sql: Sql;
  readonly #nowMs: () => number;
  readonly #cached = new Map<string, CachedKey>();

  constructor(sql: Sql, nowMs: () => number) {
    this.#sql = sql;
    this.#nowMs = nowMs;
  }

  /** The key of a secret; null where there is none that may be used now. Throws a ServiceError where the store cannot say. */
  async find(secret: string): Promise<ApiKey | null> {
    const nowMs = this.#nowMs();
    const digest = Buffer.from(digestOf(secret)).toString('base64');
    const cached = this.#cached.get(digest);
    const fresh = cached !== undefined && nowMs - cached.readMs < KEY_CACHED_MS;
    const key = fresh ? cached.key : await findApiKey(this.#sql, secret);
    // Only keys that are there are remembered: a key that was just made opens the door at once.
    if (key === null) this.#cached.delete(digest);
    else if (!fresh) {
      if (this.#cached.size >= KEYS_MAX) this.#cached.clear();
      this.#cached.set(digest, { key, readMs: nowMs });
    }
    return key !== null && isUsable(key, nowMs) ? key : null;
  }
}
