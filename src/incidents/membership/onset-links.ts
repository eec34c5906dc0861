import { type Burst, type BurstLimit, type BurstPlace, Bursts, burstGrid, PARTS_MIN } from './bursts.ts';
import { type Dependencies, isHint, NO_DEPENDENCIES } from './dependencies.ts';
import { beginningMs, type FleetPast, type FleetRates, levelOf } from './fleet-past.ts';
import { improbableCount, improbableCountOfTarget } from './improbable-count.ts';
import type { NewFleet } from './new-fleet.ts';
import { METRIC, type SeriesParts } from './series-parts.ts';

export interface Onset {
  readonly eventId: string;
  readonly series: string;
  readonly contexts: readonly string[];
  readonly dimensions: SeriesParts['dimensions'];
  readonly atMs: number;
  readonly stepMs: number;
  readonly strength: number | null;
}

/** Two related events, with the kind of their relation. */
export interface Link {
  readonly one: string;
  readonly other: string;
  readonly kind: 'related' | 'simultaneous';
}

/**
 * Evidence that two onsets need: -log2 of how many events as strong were to be expected by chance within their distance
 * in what they share. More where a good part of the fleet shares it.
 */
const BITS_SHARED = 5;
const BITS_COMMON = 6;
const COMMON_SHARE = 1 / 3;
/** The same, of those that begin at once, without what its largest parts explain. */
const BITS_BEYOND = 4;
/** Series are related after so many incidents in common, in at least this share of those of either. */
const TOGETHER_MIN = 2;
const TOGETHER_SHARE = 0.5;
/** Onsets shortly after a simultaneous beginning belong to it if so few are expected by chance. */
const FOLLOWERS_EXPECTED_MAX = 0.5;

const FLEET = 'fleet';
const ofSeries = (series: string) => `series\u0000${series}`;

/**
 * The onsets of open incidents, in the order of time, by what they have in common. Which of them are linked is a
 * function of the set: the order in which they are added does not matter.
 */
export class OnsetLinks {
  readonly #past: FleetPast;
  readonly #dependencies: Dependencies;
  readonly #fleet: () => NewFleet | null;
  readonly #lists = new Map<string, Onset[]>();
  readonly #bursts = new Bursts<Onset>();
  #isSized = false;

  /** @param fleet what a fleet without a past is compared with; null: nothing is unusual in it */
  constructor(past: FleetPast, dependencies: Dependencies = NO_DEPENDENCIES, fleet = (): NewFleet | null => null) {
    this.#past = past;
    this.#dependencies = dependencies;
    this.#fleet = fleet;
  }

  add(onset: Onset, link: (link: Link) => void): void {
    const rates = this.#past.ratesAt(onset.atMs);
    this.#bursts.addStep(onset.stepMs, () =>
      (this.#lists.get(listKey(FLEET, 0)) ?? []).map((each) => [each, [FLEET, ...each.contexts]]),
    );
    for (const context of [FLEET, ...this.#dependencies.extended(onset.contexts)]) {
      for (let level = 0; level <= levelOf(onset.strength); level++) {
        const list = this.#listOf(context, level);
        const at = insert(list, onset);
        for (const near of [list[at - 1], list[at + 1]]) {
          if (near === undefined || context === FLEET || !this.#isRelated(onset, near, { context, level, rates }))
            continue;
          link({ one: near.eventId, other: onset.eventId, kind: 'related' });
        }
        // Contexts of hints are no evidence of how many begin at once.
        if (level > 0 || isHint(context)) continue;
        for (const burst of this.#bursts.add(onset, context)) this.#judge(burst, onset, link);
        if (isQuiet(onset, rates)) this.#linkToLeader(onset, { context, rates, link });
      }
    }
    insert(this.#listOf(ofSeries(onset.series), 0), onset);
    this.#linkTogether(onset, link);
  }

  /** Judges all onsets again once the size of the fleet is known. */
  followSize(link: (link: Link) => void): void {
    const isSized = this.#fleet() !== null;
    if (isSized && !this.#isSized) for (const burst of this.#bursts.all()) this.#judge(burst, null, link);
    this.#isSized = isSized;
  }

  remove(onsets: readonly Onset[]): void {
    const gone = Map.groupBy(
      onsets.flatMap((onset) => this.#listsOf(onset).map((key) => [key, onset] as const)),
      ([key]) => key,
    );
    for (const [key, removed] of gone) {
      let list = this.#lists.get(key) ?? [];
      const ids = new Set(removed.map(([, { eventId }]) => eventId));
      if (ids.size === 1) list.splice(lowerBound(list, removed[0][1]), 1);
      else {
        list = list.filter(({ eventId }) => !ids.has(eventId));
        this.#lists.set(key, list);
      }
      if (list.length === 0) this.#lists.delete(key);
    }
    this.#bursts.remove(onsets.map((onset) => [onset, [FLEET, ...onset.contexts]]));
  }

  #listsOf(onset: Onset): readonly string[] {
    const contexts = [FLEET, ofSeries(onset.series), ...this.#dependencies.extended(onset.contexts)];
    return contexts.flatMap((context) =>
      Array.from({ length: levelOf(onset.strength) + 1 }, (_, level) => listKey(context, level)),
    );
  }

  #listOf(context: string, level: number): Onset[] {
    const key = listKey(context, level);
    let list = this.#lists.get(key);
    if (list === undefined) {
      list = [];
      this.#lists.set(key, list);
    }
    return list;
  }

  /** Shared labels or parts of names, and too near for chance. */
  #isRelated(
    one: Onset,
    other: Onset,
    { context, level, rates }: { context: string; level: number; rates: FleetRates },
  ): boolean {
    if (!rates.isKnown) return false;
    const apartMs = Math.abs(one.atMs - other.atMs);
    const stepMs = Math.max(one.stepMs, other.stepMs);
    if (apartMs > beginningMs(stepMs)) return false;
    const share = shareOf(context, rates);
    const expected = rates.perMs * share * rates.levelShares[level] * (2 * apartMs + stepMs);
    const isCommon = share > COMMON_SHARE || context.startsWith(METRIC);
    if (isCommon && level === 0) return false;
    return -Math.log2(expected) >= (isCommon ? BITS_COMMON : BITS_SHARED);
  }

  /**
   * Links the onsets of a window if chance does not explain so many of so many parts.
   * @param added its newest onset; null if all are judged again
   */
  #judge(burst: Burst<Onset>, added: Onset | null, link: (link: Link) => void): void {
    if (burst.onsets.length < PARTS_MIN) return;
    const limit = this.#limitOf(burst.place);
    if (limit === null) return;
    const isSame = burst.judge(limit);
    const { leader } = burst;
    if (leader === undefined) return;
    const { context } = burst.place;
    const linking = { context, rates: this.#past.ratesAt(leader.atMs), link };
    for (const onset of isSame && added !== null ? [added] : burst.onsets) {
      if (!burst.isUnusual(onset)) continue;
      if (onset !== leader) link({ one: leader.eventId, other: onset.eventId, kind: 'simultaneous' });
      this.#linkFollowers(this.#listOf(context, 0), onset, linking);
    }
  }

  #limitOf({ stepMs, window, context }: BurstPlace): BurstLimit | null {
    const { slideMs, withinMs, windowMs } = burstGrid(stepMs);
    const rates = this.#past.ratesAt(window * slideMs);
    const { isKnown, perMs, usualPerMs, nesting } = rates;
    const fleet = this.#fleet();
    if (!isKnown && fleet === null) return null;
    const needed = (bits?: number) => {
      if (isKnown || fleet === null)
        return improbableCount(shareOf(context, rates) * Math.max(perMs * windowMs, usualPerMs * withinMs), bits);
      const share = context === FLEET ? 1 : fleet.shareOf(context);
      return improbableCountOfTarget(fleet.falsePerMs * share * windowMs, bits);
    };
    return {
      needed: Math.max(PARTS_MIN, needed()),
      neededBeyond: needed(BITS_BEYOND),
      ...nesting.dividing(context),
    };
  }

  /** Links series that were in incidents together before. */
  #linkTogether(onset: Onset, link: (link: Link) => void): void {
    for (const partner of this.#past.partnersOf(onset.series)) {
      for (const near of this.#lists.get(listKey(ofSeries(partner), 0)) ?? []) {
        if (Math.abs(near.atMs - onset.atMs) > beginningMs(Math.max(onset.stepMs, near.stepMs))) continue;
        const { both, either } = this.#past.together(onset.series, partner, Math.max(onset.atMs, near.atMs));
        if (both >= TOGETHER_MIN && both >= TOGETHER_SHARE * either)
          link({ one: near.eventId, other: onset.eventId, kind: 'related' });
      }
    }
  }

  /** Links onsets shortly after a simultaneous beginning, unless so many come by chance. */
  #linkToLeader(onset: Onset, { context, rates, link }: Linking): void {
    for (const burst of this.#bursts.before(onset, context, beginningMs(onset.stepMs))) {
      if (burst.leader === undefined) continue;
      const leader = burst.onsets.find(
        (each) => burst.isUnusual(each) && isBefore(each, onset) && follows(onset, each, rates),
      );
      if (leader === undefined) continue;
      link({ one: leader.eventId, other: onset.eventId, kind: 'simultaneous' });
      return;
    }
  }

  /** The same for what is there already, as far as the next one that leads. */
  #linkFollowers(list: readonly Onset[], leader: Onset, { context, rates, link }: Linking): void {
    for (let i = lowerBound(list, leader) + 1; i < list.length && follows(list[i], leader, rates); i++) {
      link({ one: leader.eventId, other: list[i].eventId, kind: 'simultaneous' });
      if (this.#bursts.before(list[i], context, 0).some((burst) => burst.isUnusual(list[i]))) return;
    }
  }
}

interface Linking {
  readonly context: string;
  readonly rates: FleetRates;
  readonly link: (link: Link) => void;
}

function follows(onset: Onset, leader: Onset, rates: FleetRates): boolean {
  return onset.atMs - leader.atMs <= beginningMs(onset.stepMs) && isQuiet(onset, rates);
}

/** True if no other event is to be expected in the time after a beginning. */
function isQuiet({ stepMs }: Onset, { perMs }: FleetRates): boolean {
  return perMs * beginningMs(stepMs) <= FOLLOWERS_EXPECTED_MAX;
}

/** Share of the series that have had events, of those with a context; at least both of two onsets have it. */
function shareOf(context: string, { series, seriesOf }: FleetRates): number {
  if (context === FLEET) return 1;
  return Math.min(1, Math.max(2, seriesOf.get(context) ?? 0) / Math.max(SERIES_MIN, series));
}

/** Fewer series are no evidence of what share of them has something in common. */
const SERIES_MIN = 8;

function listKey(context: string, level: number): string {
  return `${level} ${context}`;
}

function isBefore(one: Onset, other: Onset): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.eventId < other.eventId);
}

function lowerBound(list: readonly Onset[], onset: Onset): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(list[middle], onset)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function insert(list: Onset[], onset: Onset): number {
  const at = lowerBound(list, onset);
  list.splice(at, 0, onset);
  return at;
}
