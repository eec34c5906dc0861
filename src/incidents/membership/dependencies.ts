import type { Dependency } from '../../records/dependency.ts';
import { NAME_LABEL } from '../../records/series/series-id.ts';
import { labelContext, METRIC } from './series-parts.ts';

/** Labels that one side of a hint requires of a series. */
interface Side {
  readonly hint: number;
  readonly isDependent: boolean;
  readonly contexts: readonly string[];
}

/** Hints that a series matches, by their numbers. */
export interface MetHints {
  readonly dependent: readonly number[];
  readonly dependedOn: readonly number[];
}

/** Sides of hints that count of one series. */
export const MET_MAX = 64;
/** Series whose hints are remembered until they are looked for again. */
const REMEMBERED_MAX = 10_000;
const NO_HINTS: MetHints = { dependent: [], dependedOn: [] };

/** Name of the context that the two sides of a hint share. No label or metric has this name. */
const DEPENDENCY = '\u0000dependency\u0000';

/**
 * Hints about what depends on what. What both sides of one match counts as a label that they share: it is judged as any
 * other, and joins nothing alone.
 */
export class Dependencies {
  readonly hints: readonly Dependency[];
  /** By the first context that a side asks for: a series is compared with few of them. */
  readonly #sides: ReadonlyMap<string, readonly Side[]>;
  readonly #matched = new Map<string, MetHints>();

  constructor(hints: readonly Dependency[]) {
    this.hints = hints;
    const sides = hints.flatMap(({ labels, on }, hint): readonly Side[] => [
      { hint, isDependent: true, contexts: contextsOf(labels) },
      { hint, isDependent: false, contexts: contextsOf(on) },
    ]);
    this.#sides = Map.groupBy(sides, ({ contexts }) => contexts[0]);
  }

  /** The hints that a series matches by its contexts, in their order: the first `MET_MAX`. */
  metBy(contexts: readonly string[]): MetHints {
    if (this.hints.length === 0) return NO_HINTS;
    const key = contexts.join('\u0001');
    const known = this.#matched.get(key);
    if (known !== undefined) return known;
    if (this.#matched.size >= REMEMBERED_MAX) this.#matched.clear();
    const matched = this.#find(contexts);
    this.#matched.set(key, matched);
    return matched;
  }

  #find(contexts: readonly string[]): MetHints {
    const matched = contexts
      .flatMap((context) => this.#sides.get(context) ?? [])
      .filter((side) => side.contexts.every((context) => contexts.includes(context)))
      .sort((a, b) => a.hint - b.hint)
      .slice(0, MET_MAX);
    const numbers = (isDependent: boolean) =>
      matched.filter((side) => side.isDependent === isDependent).map(({ hint }) => hint);
    return { dependent: numbers(true), dependedOn: numbers(false) };
  }

  /** These contexts, and those that hints add. */
  extended(contexts: readonly string[]): readonly string[] {
    const { dependent, dependedOn } = this.metBy(contexts);
    return [...contexts, ...new Set([...dependent, ...dependedOn].map((hint) => `${DEPENDENCY}${hint}`))];
  }
}

/** True for a context that hints add. */
export function isHint(context: string): boolean {
  return context.startsWith(DEPENDENCY);
}

export const NO_DEPENDENCIES = new Dependencies([]);

function contextsOf(labels: Dependency['labels']): readonly string[] {
  return Object.entries(labels).map(([label, value]) => {
    return label === NAME_LABEL ? `${METRIC}${value}` : labelContext(label, value);
  });
}
