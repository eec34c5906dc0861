import { type Dependencies, isHint, NO_DEPENDENCIES } from './dependencies.ts';
import { beginningMs, type FleetPast, type FleetRates, levelOf } from './fleet-past.ts';
import { improbableCount, improbableCountOfTarget, PARTS_MIN } from './improbable-count.ts';
import { stretchOf } from './onset-stretch.ts';
import { haveParts } from './part-counts.ts';
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
/** Series are related after so many incidents in common, in at least this share of those of either. */
const TOGETHER_MIN = 2;
const TOGETHER_SHARE = 0.5;
const AT_ONCE_MS = 2_000;
/** Onsets that are considered on either side, or as many as the threshold is. */
const LOOKED_AT = 256;
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
  readonly #targetPerMs: () => number | null;
  readonly #lists = new Map<string, Onset[]>();
  /** Those that began with unusually many others, by what they have in common. */
  readonly #atOnce = new Map<string, Marked>();

  /** @param targetPerMs what a fleet without a past is compared with; null: nothing is unusual in it */
  constructor(past: FleetPast, dependencies: Dependencies = NO_DEPENDENCIES, targetPerMs = (): number | null => null) {
    this.#past = past;
    this.#dependencies = dependencies;
    this.#targetPerMs = targetPerMs;
  }

  add(onset: Onset, link: (link: Link) => void): void {
    const rates = this.#past.ratesAt(onset.atMs);
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
        this.#linkAtOnce(list, at, { context, rates, link });
        this.#linkToLeader(list, onset, { context, rates, link });
      }
    }
    insert(this.#listOf(ofSeries(onset.series), 0), onset);
    this.#linkTogether(onset, link);
  }

  remove(onset: Onset): void {
    for (const context of [FLEET, ofSeries(onset.series), ...this.#dependencies.extended(onset.contexts)]) {
      const marked = this.#atOnce.get(context)?.eventIds;
      if (marked?.delete(onset.eventId) && marked.size === 0) this.#atOnce.delete(context);
      for (let level = 0; level <= levelOf(onset.strength); level++) {
        const key = listKey(context, level);
        const list = this.#lists.get(key) ?? [];
        const at = lowerBound(list, onset);
        if (list[at]?.eventId === onset.eventId) list.splice(at, 1);
        if (list.length === 0) this.#lists.delete(key);
      }
    }
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

  /** Windows with far more parts of a context than chance explains are one beginning. */
  #linkAtOnce(list: readonly Onset[], at: number, linking: Linking): void {
    const { context, rates, link } = linking;
    const onset = list[at];
    const splits = rates.nesting.splitsOf(context);
    const known = this.#markedOf(context, splits, rates);
    const twin = [list[at - 1], list[at + 1]].find((near) => near?.atMs === onset.atMs && known?.has(near.eventId));
    if (twin !== undefined) {
      // Every window with the one holds the other, too.
      known!.add(onset.eventId);
      link({ one: twin.eventId, other: onset.eventId, kind: 'simultaneous' });
      this.#linkFollowers(list, at, linking);
      return;
    }
    const windowMs = Math.max(onset.stepMs, AT_ONCE_MS);
    const needed = this.#neededAtOnce(context, windowMs, { rates, stepMs: onset.stepMs });
    if (needed === null) return;
    const reachMax = Math.max(LOOKED_AT, needed);
    let first = at;
    while (first > 0 && at - first < reachMax && onset.atMs - list[first - 1].atMs <= windowMs) first--;
    let last = at;
    while (last < list.length - 1 && last - at < reachMax && list[last + 1].atMs - onset.atMs <= windowMs) last++;
    if (last - first + 1 < needed) return;
    if (!haveParts(list.slice(first, last + 1), splits, PARTS_MIN)) return;
    const window = { list, first, at, last, windowMs, needed, splits, partsMin: PARTS_MIN };
    const stretch = stretchOf(window, null);
    if (stretch === null) return;
    const [from, to] = stretch;
    const marked = known ?? new Set();
    this.#atOnce.set(context, { splits, eventIds: marked });
    const before = stretchOf(window, at);
    const others = [from === at ? at + 1 : from, to === at ? at - 1 : to];
    if (before?.[0] === others[0] && before[1] === others[1]) {
      // All others were unusually many without this one: they are linked.
      for (const near of [at - 1, at + 1]) {
        if (near < from || near > to) continue;
        link({ one: list[near].eventId, other: onset.eventId, kind: 'simultaneous' });
      }
      marked.add(onset.eventId);
      this.#linkFollowers(list, at, linking);
      return;
    }
    const added: number[] = [];
    for (let i = from; i <= to; i++) {
      if (i > from) link({ one: list[i - 1].eventId, other: list[i].eventId, kind: 'simultaneous' });
      if (!marked.has(list[i].eventId)) added.push(i);
      marked.add(list[i].eventId);
    }
    for (const i of added) this.#linkFollowers(list, i, linking);
  }

  /** Both ends of a window are in it: a step more if onsets are on a grid. */
  #neededAtOnce(
    context: string,
    windowMs: number,
    { rates, stepMs }: { readonly rates: FleetRates; readonly stepMs: number },
  ): number | null {
    const { isKnown, perMs, usualPerMs } = rates;
    const most = windowMs + stepMs;
    if (isKnown) return improbableCount(shareOf(context, rates) * Math.max(perMs * most, usualPerMs * windowMs));
    const targetPerMs = this.#targetPerMs();
    return targetPerMs === null ? null : improbableCountOfTarget(targetPerMs * most);
  }

  /** Without a past the dimensions that split a fleet change with its first events: earlier marks do not count then. */
  #markedOf(context: string, splits: readonly string[], { isKnown }: FleetRates): Set<string> | undefined {
    const marked = this.#atOnce.get(context);
    return isKnown || marked?.splits.join() === splits.join() ? marked?.eventIds : undefined;
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
  #linkToLeader(list: readonly Onset[], onset: Onset, { context, rates, link }: Linking): void {
    const marked = this.#atOnce.get(context)?.eventIds;
    if (marked === undefined) return;
    for (let i = lowerBound(list, onset) - 1; i >= 0 && follows(onset, list[i], rates); i--) {
      if (!marked.has(list[i].eventId)) continue;
      link({ one: list[i].eventId, other: onset.eventId, kind: 'simultaneous' });
      return;
    }
  }

  /** The same for what is there already, as far as the next one that leads. */
  #linkFollowers(list: readonly Onset[], at: number, { context, rates, link }: Linking): void {
    const marked = this.#atOnce.get(context)!.eventIds;
    for (let i = at + 1; i < list.length && follows(list[i], list[at], rates); i++) {
      link({ one: list[at].eventId, other: list[i].eventId, kind: 'simultaneous' });
      if (marked.has(list[i].eventId)) return;
    }
  }
}

interface Marked {
  /** Dimensions by which its parts were counted. */
  readonly splits: readonly string[];
  readonly eventIds: Set<string>;
}

interface Linking {
  readonly context: string;
  readonly rates: FleetRates;
  readonly link: (link: Link) => void;
}

function follows(onset: Onset, leader: Onset, { perMs }: FleetRates): boolean {
  const reachMs = beginningMs(onset.stepMs);
  return onset.atMs - leader.atMs <= reachMs && perMs * reachMs <= FOLLOWERS_EXPECTED_MAX;
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
