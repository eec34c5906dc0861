import { Entries, type StateChanges } from '../../singleton/entries.ts';
import { type Dependencies, NO_DEPENDENCIES } from './dependencies.ts';
import { Nesting } from './nesting.ts';

/** Steps of an epoch: what is learned in one counts from the next but one, regardless of the order of reading. */
export const EPOCH_STEPS = 32;
const DELAY_EPOCHS = 2;
/** Epochs that are remembered. */
const EPOCHS_MAX = 128;
/** Series and pairs that are remembered. Above it new ones are not. */
const SERIES_MAX = 50_000;
const PAIRS_MAX = 20_000;
/** Times that are remembered of a series or pair. The oldest one is forgotten. */
const TIMES_MAX = 8;
/** Only series of small incidents are counted as pairs. */
const PAIRED_MAX = 40;
/** Before events were seen one is expected in so many steps. */
const PRIOR_STEPS = 4;
/** An event is of level k from 16 x 2^k on. A level is expected half as often as the one before. */
const LEVELS = 4;
const LEVEL_0 = 16;
const LEVEL_PRIOR = 8;
/** Above it a series has hardly varied before, and its strength has no meaning. */
const FLAT_FROM = 5_000;
const USUAL_QUANTILE = 0.95;
const RATES_MAX = 4;

interface NotedEvent {
  readonly series: string;
  readonly contexts: readonly string[];
  readonly atMs: number;
  /** null without a grade. */
  readonly strength: number | null;
}

interface Epoch {
  readonly levels: readonly number[];
  /** Events in each part of the epoch, as long as a beginning. */
  readonly parts: Readonly<Record<string, number>>;
}

/** Epoch and which one began first: -1 the first by name, 1 the other one, 0 both. */
type Together = readonly [epoch: number, first: -1 | 0 | 1];

/** Statistics of the fleet's past, against which beginnings are compared. Bounded and stored; old epochs expire. */
export class FleetPast {
  readonly #stepMs: number;
  readonly #dependencies: Dependencies;
  readonly #epochs: Entries<Epoch>;
  readonly #series: Entries<{ readonly contexts: readonly string[]; readonly since: number }>;
  readonly #times: Entries<readonly number[]>;
  readonly #pairs: Entries<readonly Together[]>;
  /** The other series of each pair. */
  readonly #partners = new Map<string, Set<string>>();
  /** Labels of all series with events, also of those whose past does not count yet. */
  readonly #nesting = new Nesting();
  /** Rates of the newest epochs that were requested: events come late, so two of them alternate. */
  readonly #rates = new Map<number, FleetRates>();

  /** @param dependencies count as labels, whether they were known when a series was noted or not */
  constructor(stepMs: number, changes: StateChanges, dependencies: Dependencies = NO_DEPENDENCIES) {
    this.#stepMs = stepMs;
    this.#dependencies = dependencies;
    this.#epochs = new Entries('epoch/', changes);
    this.#series = new Entries('series/', changes);
    this.#times = new Entries('times/', changes);
    this.#pairs = new Entries('pair/', changes);
  }

  restore(key: string, json: string | null): boolean {
    return [this.#epochs, this.#series, this.#times, this.#pairs].some((entries) => entries.restore(key, json));
  }

  /** Call it after the last stored entry. */
  restored(): void {
    for (const { contexts } of this.#series.values()) this.#nesting.add(contexts);
    for (const [key] of this.#pairs.all()) {
      const [one, other] = JSON.parse(key) as readonly [string, string];
      this.#pair(one, other);
    }
  }

  /** Series that were in an incident with this one. */
  partnersOf(series: string): Iterable<string> {
    return this.#partners.get(series) ?? [];
  }

  #pair(one: string, other: string): void {
    for (const [from, to] of [
      [one, other],
      [other, one],
    ]) {
      const partners = this.#partners.get(from);
      if (partners === undefined) this.#partners.set(from, new Set([to]));
      else partners.add(to);
    }
  }

  epochOf(atMs: number): number {
    return Math.floor(atMs / (EPOCH_STEPS * this.#stepMs));
  }

  note({ series, contexts, atMs, strength }: NotedEvent): void {
    const epoch = this.epochOf(atMs);
    const { levels, parts } = this.#epochs.get(String(epoch)) ?? {
      levels: new Array<number>(LEVELS).fill(0),
      parts: {},
    };
    const level = levelOf(strength);
    const part = String(Math.floor(atMs / this.#partMs));
    this.#epochs.set(String(epoch), {
      levels: levels.map((count, i) => (i === level ? count + 1 : count)),
      parts: { ...parts, [part]: (parts[part] ?? 0) + 1 },
    });
    if (this.#epochs.size > EPOCHS_MAX) this.#forgetEpoch();
    const known = this.#series.get(series);
    if (known === undefined) {
      if (this.#series.size >= SERIES_MAX) return;
      this.#nesting.add(contexts);
    }
    // Labels change, and an earlier version divided names in another way.
    const isSame = known !== undefined && known.contexts.join('\n') === contexts.join('\n');
    if (!isSame || known.since > epoch) {
      this.#series.set(series, { contexts, since: Math.min(known?.since ?? epoch, epoch) });
    }
    this.#times.set(
      series,
      latest([...(this.#times.get(series) ?? []), epoch], (time) => time),
    );
  }

  /** Counts the series of an incident as pairs, in the order of their beginnings. */
  learn(members: readonly { readonly series: string; readonly atMs: number }[]): void {
    if (members.length > PAIRED_MAX) return;
    for (const [i, one] of members.entries()) {
      for (const other of members.slice(i + 1)) {
        if (one.series === other.series) continue;
        const key = pairKey(one.series, other.series);
        const known = this.#pairs.get(key);
        if (known === undefined && this.#pairs.size >= PAIRS_MAX) continue;
        this.#pair(one.series, other.series);
        const order = Math.sign(one.atMs - other.atMs) * (one.series < other.series ? 1 : -1);
        const epoch = this.epochOf(Math.max(one.atMs, other.atMs));
        this.#pairs.set(
          key,
          latest([...(known ?? []), [epoch, order as -1 | 0 | 1]], ([time]) => time),
        );
      }
    }
  }

  /** Returns how often two series were in one incident, how often either began, and how often the first led. */
  together(one: string, other: string, atMs: number): { both: number; either: number; led: number } {
    const until = this.epochOf(atMs) - DELAY_EPOCHS;
    const pair = (this.#pairs.get(pairKey(one, other)) ?? []).filter(([time]) => time <= until);
    if (pair.length === 0) return { both: 0, either: 0, led: 0 };
    const timesOf = (series: string) => (this.#times.get(series) ?? []).filter((time) => time <= until).length;
    const ahead = one < other ? -1 : 1;
    return {
      both: pair.length,
      either: Math.max(pair.length, timesOf(one), timesOf(other)),
      led: pair.filter(([, first]) => first === ahead).length,
    };
  }

  /** Returns the usual rates before a time. They are the same for all times of an epoch. */
  ratesAt(atMs: number): FleetRates {
    const epoch = this.epochOf(atMs);
    const known = this.#rates.get(epoch);
    if (known !== undefined) return known;
    if (this.#rates.size >= RATES_MAX) this.#rates.clear();
    const rates = this.#measure(epoch);
    this.#rates.set(epoch, rates);
    return rates;
  }

  #measure(epoch: number): FleetRates {
    const until = epoch - DELAY_EPOCHS;
    const from = epoch - EPOCHS_MAX;
    const levels = new Array<number>(LEVELS).fill(0);
    const parts: number[] = [];
    let oldest = Number.POSITIVE_INFINITY;
    for (const [key, each] of this.#epochs.all()) {
      const at = Number(key);
      if (at > until) continue;
      // A fleet that was quiet for longer than is counted has a past: that it was quiet.
      oldest = Math.min(oldest, Math.max(at, from + 1));
      if (at <= from) continue;
      for (const [level, count] of each.levels.entries()) levels[level] += count;
      parts.push(...Object.values(each.parts));
    }
    const steps = Number.isFinite(oldest) ? (until - oldest + 1) * EPOCH_STEPS : 0;
    const events = levels.reduce((sum, count) => sum + count, 0);
    const seriesOf = new Map<string, number>();
    const nesting = new Nesting();
    let series = 0;
    for (const known of this.#series.values()) {
      if (known.since > until) continue;
      series++;
      nesting.add(known.contexts);
      for (const context of this.#dependencies.extended(known.contexts))
        seriesOf.set(context, (seriesOf.get(context) ?? 0) + 1);
    }
    const partsInAll = Math.max(parts.length, (steps * this.#stepMs) / this.#partMs);
    parts.sort((a, b) => a - b);
    const quietParts = Math.round(partsInAll) - parts.length;
    const usualAt = Math.floor(USUAL_QUANTILE * partsInAll) - quietParts;
    const usual = usualAt < 0 ? 0 : (parts[Math.min(usualAt, parts.length - 1)] ?? 0);
    return {
      epoch,
      perMs: (events + 1) / ((steps + PRIOR_STEPS) * this.#stepMs),
      levelShares: levels.map((_, level) => {
        const above = levels.slice(level).reduce((sum, count) => sum + count, 0);
        return (above + LEVEL_PRIOR * 2 ** -level) / (events + LEVEL_PRIOR);
      }),
      isKnown: steps > 0,
      series,
      seriesOf,
      nesting: steps > 0 ? nesting : this.#nesting,
      usual,
      usualPerMs: usual / this.#partMs,
    };
  }

  get #partMs(): number {
    return beginningMs(this.#stepMs);
  }

  #forgetEpoch(): void {
    const oldest = Math.min(...[...this.#epochs.all()].map(([epoch]) => Number(epoch)));
    this.#epochs.delete(String(oldest));
  }
}

export interface FleetRates {
  readonly epoch: number;
  /** True if there is a past to compare with. */
  readonly isKnown: boolean;
  readonly perMs: number;
  /** Share of the events that are of a level or above. */
  readonly levelShares: readonly number[];
  readonly series: number;
  readonly seriesOf: ReadonlyMap<string, number>;
  readonly nesting: Nesting;
  /** Events within one beginning that are rarely exceeded. */
  readonly usual: number;
  readonly usualPerMs: number;
}

/** Onsets within so long a time may be one beginning. */
export function beginningMs(stepMs: number): number {
  return Math.max(3 * stepMs, 30_000);
}

export function levelOf(strength: number | null): number {
  if (strength === null || strength >= FLAT_FROM || strength < LEVEL_0) return 0;
  return Math.min(LEVELS - 1, Math.floor(Math.log2(strength / LEVEL_0)));
}

function pairKey(one: string, other: string): string {
  return JSON.stringify(one < other ? [one, other] : [other, one]);
}

/** The newest ones, in an order that does not depend on that of the arguments. */
function latest<T>(all: readonly T[], timeOf: (each: T) => number): readonly T[] {
  return all
    .toSorted((a, b) => timeOf(a) - timeOf(b) || (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    .slice(-TIMES_MAX);
}
