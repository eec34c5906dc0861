import type { Sql } from '../../../store/database/database.ts';
import { type ApiKey, digestOf, findApiKey, findKeyById, isUsable, keyDigests } from '../../../store/keys/api-keys.ts';
import { keyOfSession, sessionDigests } from '../../../store/keys/console-sessions.ts';
import { KnownDigests } from './known-digests.ts';
import { UnknownSecrets } from './unknown-secrets.ts';

/** A cached key is not looked up again for this long. A revocation takes effect in every process within it. */
export const KEY_CACHED_MS = 2_000;
/** Cached keys. The cache is cleared when it is full. */
const KEYS_MAX = 10_000;

/**
 * Looks up API keys by their secrets, with a short cache, and by sessions of the console. An address that has tried too
 * many unknown secrets is refused further ones, but never a valid one.
 */
export class KeyRing {
  readonly #sql: Sql;
  readonly #nowMs: () => number;
  readonly #cached = new Map<string, { readonly key: ApiKey; readonly readMs: number }>();
  readonly #unknown = new UnknownSecrets();
  readonly #knownKeys: KnownDigests;
  readonly #knownSessions: KnownDigests;

  constructor(sql: Sql, nowMs: () => number) {
    this.#sql = sql;
    this.#nowMs = nowMs;
    this.#knownKeys = new KnownDigests(() => keyDigests(sql), nowMs);
    this.#knownSessions = new KnownDigests(() => sessionDigests(sql), nowMs);
  }

  /**
   * Returns the usable key of a secret, or null. Throws an HttpProblem 429 for an unknown secret when the address has
   * tried too many, a ServiceError when the store is unavailable.
   */
  async find(secret: string, address: string): Promise<ApiKey | null> {
    const nowMs = this.#nowMs();
    const digest = digestOf(secret);
    const name = Buffer.from(digest).toString('base64');
    const cached = this.#cached.get(name);
    const fresh = cached !== undefined && nowMs - cached.readMs < KEY_CACHED_MS;
    if (cached === undefined) await this.#refuseGuess(digest, this.#knownKeys, address);
    const key = fresh ? cached.key : await findApiKey(this.#sql, secret);
    // Unknown secrets are not cached, so that a new key works at once.
    if (key === null) {
      this.#cached.delete(name);
      this.#unknown.note(address, nowMs);
    } else if (!fresh) {
      if (this.#cached.size >= KEYS_MAX) this.#cached.clear();
      this.#cached.set(name, { key, readMs: nowMs });
    }
    return key !== null && isUsable(key, nowMs) ? key : null;
  }

  /** Returns the usable key of a session, or null. Throws as `find` does: a token is a secret that can be guessed. */
  async findBySession(token: string, address: string): Promise<ApiKey | null> {
    await this.#refuseGuess(digestOf(token), this.#knownSessions, address);
    const nowMs = this.#nowMs();
    const keyId = await keyOfSession(this.#sql, token, nowMs);
    if (keyId === null) this.#unknown.note(address, nowMs);
    const key = keyId === null ? null : await findKeyById(this.#sql, keyId);
    return key !== null && isUsable(key, nowMs) ? key : null;
  }

  /** A key has changed: it is looked up again, so that the change takes effect at once in this process. */
  changed(id: string): void {
    for (const [name, { key }] of this.#cached) {
      if (key.id === id) this.#cached.delete(name);
    }
    this.#knownKeys.forget();
  }

  /** A session of this process began or ended. */
  sessionsChanged(): void {
    this.#knownSessions.forget();
  }

  /** Throws an HttpProblem 429 where the address has tried too many unknown secrets, and this is another one. */
  async #refuseGuess(digest: Uint8Array, known: KnownDigests, address: string): Promise<void> {
    const refusal = this.#unknown.refusal(address, this.#nowMs());
    if (refusal !== null && !(await known.has(digest))) throw refusal;
  }
}
