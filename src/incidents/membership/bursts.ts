import { contextOf, type SeriesParts } from './series-parts.ts';

interface BurstOnset {
  readonly eventId: string;
  readonly series: string;
  readonly dimensions: SeriesParts['dimensions'];
  readonly atMs: number;
}

/** Limits of chance in one burst. */
export interface BurstLimit {
  readonly needed: number;
  /** So many are more than chance without what the largest parts explain. */
  readonly neededBeyond: number;
  /** Dimensions that split the fleet. */
  readonly splits: readonly string[];
  /** Other dimensions of several values. */
  readonly others: readonly string[];
  /** True if fewer series have a value of a dimension than share what the burst does: it explains them better. */
  readonly isNarrower: (context: string) => boolean;
}

/** Least number of parts that must begin at once. Two of them may have causes of their own. */
export const PARTS_MIN = 4;
const OWN_CAUSES = 2;
const AT_ONCE_MS = 2_000;
const SERIES = '';

/** Windows of onsets on a grid of steps. Each holds so many slides, and each onset is in as many windows. */
interface BurstGrid {
  readonly slideMs: number;
  readonly slides: number;
  /** Onsets so far apart may be in one burst, and the length of a window: both its ends are in it. */
  readonly withinMs: number;
  readonly windowMs: number;
}

export function burstGrid(stepMs: number): BurstGrid {
  const withinMs = Math.max(stepMs, AT_ONCE_MS);
  const slideMs = Math.max(stepMs, AT_ONCE_MS / 2);
  const slides = Math.ceil(withinMs / slideMs) + 1;
  return { slideMs, slides, withinMs, windowMs: slides * slideMs };
}

/** Indexes of the windows that hold a time. */
export function windowsOf({ slideMs, slides }: BurstGrid, atMs: number): readonly number[] {
  const last = Math.floor(atMs / slideMs);
  return Array.from({ length: slides }, (_, i) => last - i);
}

export interface BurstPlace {
  readonly stepMs: number;
  readonly window: number;
  readonly context: string;
}

/** The onsets of one window that share something, and whether they are too many for chance. */
export class Burst<T extends BurstOnset> {
  readonly place: BurstPlace;
  #onsets: T[] = [];
  #parts: readonly PartCounts[] | null = null;
  #basis = '';
  #isUnusual = false;

  constructor(place: BurstPlace) {
    this.place = place;
  }

  get isUnusual(): boolean {
    return this.#isUnusual;
  }

  get onsets(): readonly T[] {
    return this.#onsets;
  }

  add(onset: T): void {
    this.#onsets.push(onset);
    for (const parts of this.#parts ?? []) parts.add(onset);
  }

  remove(eventIds: ReadonlySet<string>): void {
    this.#onsets = this.#onsets.filter(({ eventId }) => !eventIds.has(eventId));
    this.#parts = null;
  }

  /**
   * Decides whether its onsets are too many. More onsets never make them usual. Nothing of an earlier decision counts
   * if the dimensions of the fleet, or the number needed, have changed since. Returns whether an earlier one counts.
   */
  judge(limit: BurstLimit): boolean {
    const { needed, neededBeyond, splits, others, isNarrower } = limit;
    const basis = `${needed} ${neededBeyond} ${splits.join()} ${others.join()}`;
    if (basis !== this.#basis) [this.#basis, this.#isUnusual, this.#parts] = [basis, false, null];
    if (this.#isUnusual) return true;
    if (this.#onsets.length < needed) return false;
    this.#parts ??= this.#count(limit);
    this.#isUnusual = this.#parts.every((parts) =>
      parts.isSplit ? parts.areMany(neededBeyond) : parts.beyond(1) >= neededBeyond || !isNarrower(parts.largest),
    );
    return false;
  }

  #count({ splits, others }: BurstLimit): readonly PartCounts[] {
    const counts = [SERIES, ...splits].map((name) => new PartCounts(name, true));
    for (const name of others) counts.push(new PartCounts(name, false));
    for (const onset of this.#onsets) for (const parts of counts) parts.add(onset);
    return counts;
  }
}

/** Onsets of each value of a dimension, or of each series. */
class PartCounts {
  readonly isSplit: boolean;
  readonly #name: string;
  readonly #counts = new Map<string, number>();
  #total = 0;
  /** The values with the most onsets, the largest first. */
  #largest: { readonly value: string; readonly count: number }[] = [];

  constructor(name: string, isSplit: boolean) {
    this.#name = name;
    this.isSplit = isSplit;
  }

  /** The value with the most onsets. */
  get largest(): string {
    return contextOf({ name: this.#name, value: this.#largest[0]?.value ?? '' });
  }

  add({ series, dimensions }: BurstOnset): void {
    const value = this.#name === SERIES ? series : dimensions.find(({ name }) => name === this.#name)?.value;
    this.#total++;
    if (value === undefined) return;
    const count = (this.#counts.get(value) ?? 0) + 1;
    this.#counts.set(value, count);
    if (this.#largest.length === OWN_CAUSES && count <= this.#largest[OWN_CAUSES - 1].count) return;
    this.#largest = [...this.#largest.filter((each) => each.value !== value), { value, count }]
      .sort((one, other) => other.count - one.count)
      .slice(0, OWN_CAUSES);
  }

  /** Onsets without those of the largest values. */
  beyond(values: number): number {
    return this.#largest.slice(0, values).reduce((rest, { count }) => rest - count, this.#total);
  }

  areMany(neededBeyond: number): boolean {
    return this.#counts.size >= PARTS_MIN && this.beyond(OWN_CAUSES) >= neededBeyond;
  }
}

/** The bursts of all contexts. Each step of a detector has its own windows, which hold the onsets of every step. */
export class Bursts<T extends BurstOnset> {
  readonly #bursts = new Map<string, Burst<T>>();
  readonly #steps = new Set<number>();

  all(): Iterable<Burst<T>> {
    return this.#bursts.values();
  }

  /** @param onsets those so far, with their contexts */
  addStep(stepMs: number, onsets: () => Iterable<readonly [T, readonly string[]]>): void {
    if (this.#steps.has(stepMs)) return;
    this.#steps.add(stepMs);
    for (const [onset, contexts] of onsets()) {
      for (const context of contexts) for (const place of placesOf(onset, context, stepMs)) this.#at(place).add(onset);
    }
  }

  /** Returns the bursts that the onset is in. */
  add(onset: T, context: string): readonly Burst<T>[] {
    return this.#placesOf(onset, context).map((place) => {
      const burst = this.#at(place);
      burst.add(onset);
      return burst;
    });
  }

  /** Bursts of a context that hold the time of an onset, or one at most so long before. */
  before({ atMs }: T, context: string, reachMs: number): readonly Burst<T>[] {
    return [...this.#steps].flatMap((stepMs) => {
      const [last] = windowsOf(burstGrid(stepMs), atMs);
      const first = windowsOf(burstGrid(stepMs), atMs - reachMs).at(-1)!;
      return Array.from({ length: last - first + 1 }, (_, i) => ({ stepMs, window: last - i, context })).flatMap(
        (place) => this.#bursts.get(keyOf(place)) ?? [],
      );
    });
  }

  remove(onsets: readonly (readonly [T, readonly string[]])[]): void {
    const gone = new Set(onsets.map(([{ eventId }]) => eventId));
    const places = onsets.flatMap(([onset, contexts]) => contexts.flatMap((each) => this.#placesOf(onset, each)));
    for (const key of new Set(places.map(keyOf))) {
      const burst = this.#bursts.get(key);
      burst?.remove(gone);
      if (burst?.onsets.length === 0) this.#bursts.delete(key);
    }
  }

  #at(place: BurstPlace): Burst<T> {
    const key = keyOf(place);
    const burst = this.#bursts.get(key) ?? new Burst<T>(place);
    this.#bursts.set(key, burst);
    return burst;
  }

  #placesOf(onset: T, context: string): readonly BurstPlace[] {
    return [...this.#steps].flatMap((stepMs) => placesOf(onset, context, stepMs));
  }
}

function placesOf({ atMs }: BurstOnset, context: string, stepMs: number): readonly BurstPlace[] {
  return windowsOf(burstGrid(stepMs), atMs).map((window) => ({ stepMs, window, context }));
}

function keyOf({ stepMs, window, context }: BurstPlace): string {
  return `${stepMs} ${window} ${context}`;
}
