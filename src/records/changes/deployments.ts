import type { AnomalyEvent } from '../anomaly-event.ts';
import { labelsOfId } from '../series/series-id.ts';
import { type SeriesPattern, seriesPattern } from '../series/series-pattern.ts';
import { CHANGE_BEFORE_MS, CHANGES_KEPT_MS, CHANGES_MAX } from './change-limits.ts';
import type { Deployment } from './deployment.ts';

/** Subject of a change: an event, an event of an incident, or a series. */
export interface ConcernedSubject {
  readonly series: string | null;
  readonly group: string | null;
  readonly labels?: AnomalyEvent['labels'];
  readonly seriesLabels?: AnomalyEvent['seriesLabels'];
}

interface KeptDeployment {
  readonly change: Deployment;
  readonly writtenAtMs: number;
  readonly pattern: SeriesPattern | null;
}

/** Deployments of the topic: bounded, and expired after a time. */
export class Deployments {
  readonly #nowMs: () => number;
  #kept = new Map<string, KeptDeployment>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  put(change: Deployment, writtenAtMs: number): void {
    const pattern = change.series === null ? null : seriesPattern([change.series]);
    this.#kept.set(change.id, { change, writtenAtMs, pattern });
    // Not with every one: sorting takes its time.
    if (this.#kept.size >= 2 * CHANGES_MAX) this.#trim();
  }

  has(id: string): boolean {
    return this.#kept.has(id);
  }

  remove(id: string): void {
    this.#kept.delete(id);
  }

  /** Those of a stretch of time, both ends included, the latest first. @param subjects null: all changes */
  between(fromMs: number, toMs: number, subjects: readonly ConcernedSubject[] | null = null): readonly Deployment[] {
    this.#trim();
    const wanted = subjects?.map(matchable) ?? null;
    return [...this.#kept.values()]
      .filter(({ change: { time, timeEnd } }) => time <= toMs && (timeEnd ?? time) >= fromMs)
      .filter((kept) => wanted === null || wanted.some((each) => concerns(kept, each)))
      .map(({ change }) => change);
  }

  /**
   * Changes shortly before a start, or in effect at that time, the latest first.
   * @param knownAtMs when it was first known: a change until then counts, too
   */
  before(subjects: readonly ConcernedSubject[], beganMs: number, knownAtMs = beganMs): readonly Deployment[] {
    return this.between(beganMs - CHANGE_BEFORE_MS, Math.max(beganMs, knownAtMs), subjects);
  }

  /** In the order of their times from here on, the latest first. */
  #trim(): void {
    const oldestMs = this.#nowMs() - CHANGES_KEPT_MS;
    const kept = [...this.#kept]
      .filter(([, { writtenAtMs }]) => writtenAtMs >= oldestMs)
      .sort(([a, one], [b, other]) => other.change.time - one.change.time || (a < b ? -1 : 1));
    this.#kept = new Map(kept.slice(0, CHANGES_MAX));
  }
}

interface Matchable {
  readonly id: string;
  readonly labels: AnomalyEvent['labels'];
}

function matchable({ series, group, labels, seriesLabels }: ConcernedSubject): Matchable {
  const id = series ?? group ?? '';
  return { id, labels: { ...labels, ...seriesLabels, ...labelsOfId(id) } };
}

function concerns({ change, pattern }: KeptDeployment, { id, labels }: Matchable): boolean {
  const asked = Object.entries(change.labels);
  return asked.every(([name, value]) => labels[name] === value) && (pattern === null || pattern.test(id, labels));
}
