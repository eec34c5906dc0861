/** Changes of the kept state since they were last drained: JSON by key; null if an entry was deleted. */
export type StateChanges = Map<string, string | null>;

export function drainChanges(changes: StateChanges): StateChanges {
  const drained = new Map(changes);
  changes.clear();
  return drained;
}

/** Entries of one kind. Each change is noted, so that it can be written. */
export class Entries<T> {
  readonly #prefix: string;
  readonly #changes: StateChanges;
  readonly #values = new Map<string, T>();

  /** @param prefix of the keys under which the entries are kept; no prefix begins another */
  constructor(prefix: string, changes: StateChanges) {
    this.#prefix = prefix;
    this.#changes = changes;
  }

  get size(): number {
    return this.#values.size;
  }

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: T): void {
    this.#values.set(key, value);
    this.#changes.set(this.#prefix + key, JSON.stringify(value));
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#changes.set(this.#prefix + key, null);
  }

  /** In the order in which they were first set. Entries may be changed and deleted meanwhile. */
  all(): IterableIterator<[string, T]> {
    return this.#values.entries();
  }

  values(): IterableIterator<T> {
    return this.#values.values();
  }

  /** Takes a kept entry over; false if it is of another kind. A later one with its key replaces it. */
  restore(key: string, json: string | null): boolean {
    if (!key.startsWith(this.#prefix)) return false;
    const own = key.slice(this.#prefix.length);
    if (json === null) this.#values.delete(own);
    else this.#values.set(own, JSON.parse(json) as T);
    return true;
  }
}
