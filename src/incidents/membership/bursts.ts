import type { SeriesParts } from './series-parts.ts';

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
  #dimensions = '';
  #basis = '';
  #isUnusual = false;
  /** Values that explain it, by their dimensions. */
  #explained: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(place: BurstPlace) {
    this.place = place;
  }

  /** The first of those that are too many. */
  get leader(): T | undefined {
    return this.#isUnusual ? this.#onsets.find((onset) => this.isUnusual(onset)) : undefined;
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

  /** True if chance does not explain so many, and the onset is no chance next to them. */
  isUnusual({ dimensions }: BurstOnset): boolean {
    return (
      this.#isUnusual && dimensions.every(({ name, value }) => this.#explained.get(name)?.includes(value) !== false)
    );
  }

  /**
   * Decides which of its onsets are too many. More onsets never make one of them usual. Nothing of an earlier decision
   * counts if the dimensions of the fleet, or the number needed, have changed since. Returns true if it still holds.
   */
  judge(limit: BurstLimit): boolean {
    const { needed, neededBeyond, splits, others } = limit;
    if (this.#onsets.length < needed) {
      [this.#isUnusual, this.#basis] = [false, ''];
      return false;
    }
    const dimensions = `${splits.join()} ${others.join()}`;
    if (dimensions !== this.#dimensions) this.#parts = null;
    this.#dimensions = dimensions;
    this.#parts ??= this.#count(limit);
    this.#isUnusual = this.#parts.every((parts) => !parts.isSplit || parts.areMany(neededBeyond));
    const explaining = this.#parts.flatMap((parts) => (parts.isSplit ? [] : parts.explaining(neededBeyond)));
    this.#explained = new Map(explaining);
    const basis = JSON.stringify([this.#isUnusual, explaining]);
    const isSame = basis === this.#basis;
    this.#basis = basis;
    return isSame;
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

  areMany(neededBeyond: number): boolean {
    return this.#counts.size >= PARTS_MIN && this.#beyond(OWN_CAUSES) >= neededBeyond;
  }

  /** The largest values, if only chance is left without them. */
  explaining(neededBeyond: number): readonly (readonly [string, readonly string[]])[] {
    for (let values = 1; values <= this.#largest.length; values++) {
      if (this.#beyond(values) >= neededBeyond) continue;
      const explaining = this.#largest.slice(0, values).map(({ value }) => value);
      return [[this.#name, explaining.sort()]];
    }
    return [];
  }

  /** Onsets without those of the largest values. */
  #beyond(values: number): number {
    return this.#largest.slice(0, values).reduce((rest, { count }) => rest - count, this.#total);
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
