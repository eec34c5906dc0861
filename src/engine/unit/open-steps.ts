import type { OpenStep, OpenStepsState, PointsOfSeries } from '../../checkpoint/open-step-state.ts';
import { aggregateOf } from '../../detection/calibration/aggregate-points.ts';
import {
  type CounterArrival,
  type CounterPoint,
  type CounterRules,
  counterChange,
  nextBases,
} from '../../detection/calibration/counter-change.ts';
import type { StreamDetectionSettings } from '../../detection/calibration/settings.ts';
import { meanStepMs } from '../../time/frequency.ts';
import { gridStepAt } from '../../time/grid-placement.ts';
import { CounterHealth } from './counter-health.ts';
import type { LoadedDetector } from './loaded-detector.ts';
import { drainPoints, keepPoint, keepStep, noteRecord, type PointInTime, withAdded } from './points-of-steps.ts';
import type { ReceivedObservation } from './received-observation.ts';
import type { ScoreSink } from './score-sink.ts';

/** Points in the open steps of a series, or of all members of a group. Further ones are dead letters. */
export const OPEN_POINTS_MAX = 20_000;
/** Members of a group whose points are known. That which was silent for longest is forgotten for a further one. */
const SERIES_MAX = 1_000;
/** An increase of more steps than this is not that of one step. */
const INCREASE_STEPS_MAX = 1.5;

/** A point that is nearer to the one before it than this share of a step repeats it: no difference is one of a step. */
const REPEAT_SHARE = 1 / 8;

type PointOutcome = 'accepted' | 'duplicate' | 'conflict' | 'late' | 'step-full' | 'group-full';

/**
 * Points of the series of a unit, where several of a time step become one observation, or the values are those of
 * counters. It is part of the state of the unit.
 *
 *   lateness 0    10:00         10:05         10:10
 *                 | x   x    x  | x           |            the first point of 10:05 closes the step of 10:00
 *
 * A step closes when a point of its series lies `allowed_lateness` beyond its end, or when the event time of the
 * partition continued by a step and `allowed_lateness` without a record of the series. So neither depends on a clock.
 * Points of a closed step are late. What comes of a step does not depend on the order of its points.
 */
export class OpenSteps implements OpenStepsState {
  readonly all = new Map<string, PointsOfSeries>();
  readonly changed = new Set<PointsOfSeries>();
  readonly #settings: StreamDetectionSettings;
  readonly #rules: CounterRules | null;
  readonly #partition: number;
  /** The group of the series; null for one that is scored alone. */
  readonly #group: string | null;
  points = 0;
  /** The series of the newest step that was opened. */
  opened: PointsOfSeries | null = null;
  silentOffset = Number.NaN;
  whole = true;
  readonly #health = new CounterHealth();

  constructor(settings: StreamDetectionSettings, place: { readonly partition: number; readonly group: string | null }) {
    this.#settings = settings;
    this.#partition = place.partition;
    this.#group = place.group;
    const { as, gapLimit, freq } = settings;
    const steps = as === 'increase' ? INCREASE_STEPS_MAX : gapLimit + 1;
    this.#rules = as === undefined ? null : { as, apartMsMax: steps * meanStepMs(freq) };
  }

  /** null if every point is an observation as it is. */
  static of(
    settings: StreamDetectionSettings,
    place: { readonly partition: number; readonly group: string | null },
  ): OpenSteps | null {
    return settings.aggregate === undefined && settings.as === undefined ? null : new OpenSteps(settings, place);
  }

  /** True if points become one observation a step. */
  get aggregates(): boolean {
    return this.#settings.aggregate !== undefined;
  }

  /** Steps of all series that are open. */
  get open(): number {
    let open = 0;
    for (const { steps } of this.all.values()) open += steps.length;
    return open;
  }

  /**
   * Event time of the partition after which the open steps of a series close, unless a record of it comes. A series
   * that is further behind than the lateness has a step from its newest record on. It never moves back.
   */
  deadlineMs({ newestMs, lastSeenMs, steps }: PointsOfSeries): number {
    const { latenessMs, freq } = this.#settings;
    const stepMs = meanStepMs(freq);
    const endMs = Math.max(newestMs + stepMs, steps.at(-1)?.endMs ?? newestMs);
    return Math.max(endMs + latenessMs, lastSeenMs + stepMs);
  }

  /**
   * Adds a point to its step. The steps that it closes are appended to `closed`.
   * @param clockMs the event time of the partition
   */
  add(observation: ReceivedObservation, watermarkMs: number, closed: ReceivedObservation[]): PointOutcome {
    const { series, timestampMs, value } = observation;
    const points = this.all.get(series) ?? this.#begin(series, timestampMs);
    if (points === null) return 'group-full';
    const isNewest = timestampMs > points.newestMs;
    if (isNewest) points.newestMs = timestampMs;
    points.lastSeenMs = Math.max(points.lastSeenMs, points.newestMs, watermarkMs);
    this.changed.add(points);
    if (timestampMs < points.closedMs) return 'late';
    const { latenessMs } = this.#settings;
    if (isNewest) this.#closeUntil(points, timestampMs - latenessMs, closed);
    const same = isNewest ? -1 : points.timesMs.indexOf(timestampMs);
    if (same >= 0) return points.values[same] === value ? 'duplicate' : 'conflict';
    if (this.points >= OPEN_POINTS_MAX) return 'step-full';
    const newest = points.steps.at(-1);
    const isIn = newest !== undefined && timestampMs >= newest.startMs && timestampMs < newest.endMs;
    const step = isIn ? newest : this.#stepAt(points, timestampMs);
    if (step.endMs + latenessMs <= points.newestMs) return 'late';
    if (step !== newest && keepStep(points.steps, step)) this.opened = points;
    keepPoint(points, observation);
    this.points++;
    noteRecord(step, observation);
    return 'accepted';
  }

  /** Closes the open steps of a series, or of all of them, without waiting for further points. */
  close(series: PointsOfSeries | null): readonly ReceivedObservation[] {
    const closed: ReceivedObservation[] = [];
    for (const points of series === null ? this.all.values() : [series]) {
      if (points.steps.length === 0) continue;
      this.changed.add(points);
      this.#closeUntil(points, Number.POSITIVE_INFINITY, closed);
    }
    return closed;
  }

  /** The value of an observation: of a counter, what it has come to since the one before. NaN if there is none. */
  valueAt(observation: ReceivedObservation): number {
    if (this.#rules === null || this.aggregates) return observation.value;
    const bases = this.all.get(observation.series)?.bases ?? [];
    const { increase, seconds } = counterChange(bases, arrivalOf(observation), this.#rules);
    return this.#rules.as === 'rate' ? increase / seconds : increase;
  }

  /** The observation was placed: a counter continues from it. */
  passed(observation: ReceivedObservation, loaded: LoadedDetector, sink: ScoreSink): void {
    if (this.#rules === null || this.aggregates) return;
    const { series, timestampMs } = observation;
    const points = this.all.get(series) ?? this.#begin(series, timestampMs);
    if (points === null) return;
    points.newestMs = Math.max(points.newestMs, timestampMs);
    points.lastSeenMs = points.newestMs;
    this.#changeBy(points, arrivalOf(observation), this.#rules);
    this.changed.add(points);
    this.report(series, loaded, sink);
  }

  /** The point that a counter continues from; null if there is none, or steps are aggregated. */
  baseOf(series: string): CounterPoint | null {
    return this.aggregates ? null : (this.all.get(series)?.bases.at(0) ?? null);
  }

  /** True if an observation repeats that point, or is older. */
  apartFromBase({ series, timestampMs }: Pick<ReceivedObservation, 'series' | 'timestampMs'>) {
    const apartMs = timestampMs - (this.baseOf(series)?.timestampMs ?? Number.NaN);
    if (Math.abs(apartMs) < meanStepMs(this.#settings.freq) * REPEAT_SHARE) return 'duplicate';
    return apartMs < 0 ? 'late' : 'next';
  }

  /** Reports what is wrong with the points that a series has sent recently. */
  report(series: string, loaded: LoadedDetector, sink: ScoreSink): void {
    const suspicion = this.#health.of(series);
    if (suspicion !== null) sink.counters.suspect(suspicion, loaded, series);
  }

  /** A point that is dropped, because its step is filled, is of another sender. */
  repeats({ series, extras }: ReceivedObservation, loaded: LoadedDetector, sink: ScoreSink): void {
    const startMs = extras?.startMs;
    const base = this.baseOf(series);
    if (startMs !== undefined && base !== null && startMs < base.startMs) this.#health.note(series, { inTurn: true });
    this.report(series, loaded, sink);
  }

  /** Takes up kept points, or those that were added since. */
  resume(kept: OpenStepsState | null): void {
    if (kept?.whole ?? true) this.all.clear();
    for (const [series, one] of kept?.all ?? []) {
      const known = this.all.get(series);
      this.all.set(series, known === undefined ? one : withAdded(known, one));
    }
    this.silentOffset = kept?.silentOffset ?? Number.NaN;
    this.whole = false;
    this.changed.clear();
    this.#count();
  }

  /** Takes over what another unit has, which is not used any more. */
  inherit({ all, silentOffset }: OpenSteps): void {
    this.silentOffset = silentOffset;
    this.all.clear();
    for (const [series, points] of all) {
      const copied = { ...points, steps: points.steps.map((step) => ({ ...step })), written: 0 };
      const extras = points.extras && [...points.extras];
      this.all.set(series, { ...copied, timesMs: [...points.timesMs], values: [...points.values], extras });
    }
    this.whole = true;
    this.#count();
  }

  /** Offsets are of another partition from now on. */
  relocate(moved: (offset: number) => number): void {
    this.silentOffset = moved(this.silentOffset);
    for (const { steps } of this.all.values()) for (const step of steps) step.offset = moved(step.offset);
  }

  /** null if there are too many series, and all have open steps. */
  #begin(series: string, timestampMs: number): PointsOfSeries | null {
    if (this.all.size >= SERIES_MAX && !this.#forgetOne()) return null;
    const times = { newestMs: timestampMs, lastSeenMs: timestampMs, closedMs: Number.NEGATIVE_INFINITY };
    const begun = { series, ...times, bases: [], steps: [], timesMs: [], values: [], extras: null, written: 0 };
    this.all.set(series, begun);
    return begun;
  }

  #forgetOne(): boolean {
    let silent: PointsOfSeries | null = null;
    for (const points of this.all.values()) {
      if (points.steps.length === 0 && !(points.newestMs >= (silent?.newestMs ?? Infinity))) silent = points;
    }
    if (silent === null) return false;
    this.all.delete(silent.series);
    this.#health.forget(silent.series);
    this.changed.delete(silent);
    this.whole = true;
    return true;
  }

  #stepAt({ steps }: PointsOfSeries, timestampMs: number): OpenStep {
    const known = steps.find(({ startMs, endMs }) => timestampMs >= startMs && timestampMs < endMs);
    const nothing = { offset: -1, recordMs: -1, key: null, headers: undefined };
    return known ?? { ...gridStepAt(this.#settings.freq, timestampMs), ...nothing };
  }

  #closeUntil(points: PointsOfSeries, endMs: number, closed: ReceivedObservation[]): void {
    const { steps } = points;
    while (steps.length > 0 && steps[0].endMs <= endMs) {
      const step = steps.shift()!;
      points.closedMs = step.endMs;
      const own = drainPoints(points, step.endMs);
      this.points -= own.length;
      const { offset, recordMs, key, headers } = step;
      const record = { partition: this.#partition, offset, timestampMs: recordMs, key, value: null };
      closed.push({
        series: points.series,
        group: this.#group,
        timestampMs: step.startMs,
        value: this.#aggregate(points, own),
        record: headers === undefined ? record : { ...record, headers },
        points: own.length,
      });
    }
  }

  /** NaN if nothing is known: of the first point of a counter. */
  #aggregate(points: PointsOfSeries, own: readonly PointInTime[]): number {
    const { aggregate } = this.#settings;
    if (aggregate === undefined) return Number.NaN;
    const rules = this.#rules;
    if (rules === null) return aggregateOf(aggregate, { values: own.map(({ value }) => value), seconds: null });
    const changes = own
      .map((point) => this.#changeBy(points, arrivalOf(point), rules))
      .filter(({ increase, seconds }) => !Number.isNaN(rules.as === 'rate' ? increase / seconds : increase));
    if (changes.length === 0) return Number.NaN;
    if (rules.as === 'increase') {
      return aggregateOf(aggregate, { values: changes.map(({ increase }) => increase), seconds: null });
    }
    const values = changes.map(({ increase, seconds }) => increase / seconds);
    return aggregateOf(aggregate, { values, seconds: changes.map(({ seconds }) => seconds) });
  }

  #changeBy(points: PointsOfSeries, arrival: CounterArrival, rules: CounterRules): ReturnType<typeof counterChange> {
    const change = counterChange(points.bases, arrival, rules);
    points.bases = nextBases(points.bases, arrival, rules);
    this.#health.note(points.series, change);
    return change;
  }

  #count(): void {
    this.points = 0;
    for (const { values } of this.all.values()) this.points += values.length;
  }
}

function arrivalOf({ timestampMs, value, extras = {} }: Pick<ReceivedObservation, 'timestampMs' | 'value' | 'extras'>) {
  const { startMs = Number.NaN, isDelta = false, low = 0 } = extras;
  return { timestampMs, value, startMs, isDelta, low };
}
