import { dimensionOf } from './series-parts.ts';

/**
 * Which dimensions of a fleet are within others: each host in one data centre, each service in one team. What lies
 * within different parts of such a dimension has nothing to do with each other, unless other evidence exists.
 */
export class Nesting {
  readonly #values = new Map<string, Set<string>>();
  /** By inner and outer dimension: the outer value of each inner one; null if the inner is in several. */
  readonly #outer = new Map<string, Map<string, Map<string, string> | null>>();
  #splits: readonly string[] | null = null;

  /** Takes what a series has in common with others. */
  add(contexts: readonly string[]): void {
    this.#splits = null;
    for (const value of contexts) {
      const inner = dimensionOf(value);
      if (inner === null) continue;
      const values = this.#values.get(inner) ?? new Set();
      this.#values.set(inner, values.add(value));
      for (const other of contexts) {
        const outer = dimensionOf(other);
        if (outer !== null && outer !== inner) this.#place([inner, value], [outer, other]);
      }
    }
  }

  #place([inner, value]: readonly [string, string], [outer, other]: readonly [string, string]): void {
    let byOuter = this.#outer.get(inner);
    if (byOuter === undefined) {
      byOuter = new Map();
      this.#outer.set(inner, byOuter);
    }
    const known = byOuter.get(outer);
    if (known === null) return;
    const places = known ?? new Map<string, string>();
    const place = places.get(value);
    byOuter.set(outer, place === undefined || place === other ? places.set(value, other) : null);
  }

  /** True if each value of the inner dimension is in one of the outer. */
  isWithin(inner: string, outer: string): boolean {
    return (this.#outer.get(inner)?.get(outer) ?? null) !== null;
  }

  /** Dimensions of several values that all finer dimensions are within. */
  get splits(): readonly string[] {
    this.#splits ??= [...this.#values].flatMap(([outer, { size }]) => {
      const finer = [...this.#values].filter(([inner, values]) => inner !== outer && values.size > size);
      return size > 1 && finer.every(([inner]) => this.isWithin(inner, outer)) ? [outer] : [];
    });
    return this.#splits;
  }

  /** Dimensions of several values that a context does not decide: those that split what shares it, and others. */
  dividing(context: string): { readonly splits: readonly string[]; readonly others: readonly string[] } {
    const own = dimensionOf(context);
    const isOpen = (name: string) => own === null || (name !== own && !this.isWithin(own, name));
    const several = [...this.#values].flatMap(([name, { size }]) => (size > 1 && isOpen(name) ? [name] : []));
    const splits = this.splits.filter(isOpen);
    return { splits, others: several.filter((name) => !splits.includes(name)) };
  }
}
