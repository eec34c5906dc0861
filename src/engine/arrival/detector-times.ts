import type { RoutedObservation } from './routed-observation.ts';

interface TimesOfDetector {
  /** Time by the clock without an observation of it. */
  quietMs: number;
  /** By how much its event time has moved. */
  movedMs: number;
}

/** A partition without observations. */
export interface Quiet {
  /** Time by the clock since the last one, in which all could be read. */
  readonly quietMs: number;
  /** By detector, times of the other partitions of the worker; none of them has seen one that is missing. */
  readonly elsewhere: ReadonlyMap<string, TimesOfDetector>;
}

interface Seen {
  eventMs: number;
  clockMs: number;
}

/** Newest times that each partition of a worker has of each detector: in one without records no event time passes. */
export class DetectorTimes {
  readonly #nowMs: () => number;
  /** By detector and partition. */
  readonly #seen = new Map<string, Map<number, Seen>>();

  /** @param nowMs a clock; its differences count */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Some of the observations were the newest of their series. */
  reach(partition: number, observations: readonly RoutedObservation[], watermarkMs: number): void {
    const clockMs = this.#nowMs();
    let detector: string | null = null;
    let seen: Seen = { eventMs: Number.NEGATIVE_INFINITY, clockMs };
    for (const { loaded, timestampMs } of observations) {
      const { name } = loaded.config;
      if (name !== detector) seen = this.#seenOf(name, partition);
      detector = name;
      seen.clockMs = clockMs;
      // A time that no other record has confirmed so far is ahead of event time.
      seen.eventMs = Math.max(seen.eventMs, Math.min(timestampMs, watermarkMs));
    }
  }

  #seenOf(detector: string, partition: number): Seen {
    const partitions = this.#seen.get(detector) ?? new Map<number, Seen>();
    this.#seen.set(detector, partitions);
    const seen = partitions.get(partition) ?? { eventMs: Number.NEGATIVE_INFINITY, clockMs: 0 };
    partitions.set(partition, seen);
    return seen;
  }

  /**
   * Times of partitions other than this one, by detector.
   * @param from event times that moves count from; those that it lacks are added. null: nothing has moved
   */
  elsewhere(partition: number, from: Map<object, number> | null): ReadonlyMap<string, TimesOfDetector> {
    const nowMs = this.#nowMs();
    const found = new Map<string, TimesOfDetector>();
    for (const [detector, partitions] of this.#seen) {
      const times = { quietMs: Number.POSITIVE_INFINITY, movedMs: 0 };
      for (const [other, seen] of partitions) {
        if (other === partition) continue;
        times.quietMs = Math.min(times.quietMs, nowMs - seen.clockMs);
        if (from === null) continue;
        if (!from.has(seen)) from.set(seen, seen.eventMs);
        // A source that is late stays as late as it is: only moves count.
        times.movedMs = Math.max(times.movedMs, seen.eventMs - from.get(seen)!);
      }
      found.set(detector, times);
    }
    return found;
  }
}
