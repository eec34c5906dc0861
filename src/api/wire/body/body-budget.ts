/**
 * Accounts for the memory of request bodies, by key. A key may hold as much as it leaves free for the others: alone
 * half of the budget, next to another one a quarter, and so on. So bodies of one key, however slowly they are sent,
 * never keep the bodies of others out.
 */
export class BodyBudget {
  readonly bytesMax: number;
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get held(): number {
    return this.#held;
  }

  /** Returns false when the key may hold no more now. */
  reserve(keyId: string, bytes: number): boolean {
    const own = (this.#heldBy.get(keyId) ?? 0) + bytes;
    if (own > this.bytesMax - this.#held - bytes) return false;
    this.#heldBy.set(keyId, own);
    this.#held += bytes;
    return true;
  }

  release(keyId: string, bytes: number): void {
    const own = (this.#heldBy.get(keyId) ?? 0) - bytes;
    if (own > 0) this.#heldBy.set(keyId, own);
    else this.#heldBy.delete(keyId);
    this.#held -= bytes;
  }
}
