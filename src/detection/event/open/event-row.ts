import type { SeasonAlarm, Verdict } from '../../alarm/alarm.ts';
import type { RingValues } from '../kind/event-extremes.ts';
import type { EventMoment } from './event-moment.ts';
import type { EventRules } from './event-rules.ts';
import { USUAL_DEVIATIONS } from './event-summary.ts';

/** A row of such a grade is part of an open event. */
const DEVIATING_GRADE = 1 / 3;

/** Properties that the events of a series or group share. */
export interface EventSubject {
  readonly detector: string;
  /** null for a group. */
  readonly series: string | null;
  readonly group: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** Unit of the values; left out where there is none. */
  readonly unit?: string | null;
  /** Omitted where the id of the series, or group, shows them. */
  readonly seriesLabels?: Readonly<Record<string, string>>;
  readonly rules: EventRules;
  /** Rows without an alarm that end an episode: the detection size. */
  readonly gap: number;
  readonly stepMs: number;
  /** Event time of what the times of rows are distances from, null if it is not known; left out: they are times. */
  readonly originMs?: number | null;
  /** Id of the event that begins at this input offset; a text distinguishes events that do not begin with an alarm. */
  readonly idOf: (start: number | string) => string;
}

/** A value, and what was expected. */
export interface ForecastValue {
  readonly value: number;
  /** The forecast; NaN if there is none. */
  readonly expected: number;
  /** Bounds of the interval; NaN if there is none. */
  readonly lo: number;
  readonly hi: number;
}

/** An observed value of a row, of the series itself or of a member of the group. */
export interface SeenValue extends RingValues, ForecastValue {
  readonly series: string;
  /** Its unusualness (alarm.ts). */
  readonly sharp: number;
  /** The season of a member in an alarm of its group; that of a series is in the verdict. */
  readonly season?: SeasonAlarm | null | undefined;
  /** A row just before; null if its value, or its forecast, is not known any more. */
  readonly earlier?: (position: number) => ForecastValue | null;
}

export interface EventRow extends EventMoment {
  /** Input offset. */
  readonly offset: number;
  readonly verdict: Verdict;
  /** Empty where nothing was observed. */
  readonly seen: readonly SeenValue[];
  /** The kept values of a member, or of the series itself; null if it has left. */
  readonly keptOf: (series: string) => RingValues | null;
}

/** The season of the series, or of the member. */
export function seasonOfSeen({ season }: SeenValue, verdict: Verdict): SeasonAlarm | null {
  return season === undefined ? verdict.season : season;
}

/**
 * Where the seasonal profile raised the alarm, what is expected is what this time of the week usually shows. Of a day
 * the value is what it has shown so far, on average.
 */
export function inSeason(seen: SeenValue | null, verdict: Verdict): SeenValue | null {
  if (seen === null) return null;
  const season = seasonOfSeen(seen, verdict);
  if (season?.raised !== true) return seen;
  const { expected, deviation, recentMean, day } = season;
  const margin = USUAL_DEVIATIONS * deviation;
  const value = day === undefined ? seen.value : recentMean;
  const lo = Math.max(seen.rings.layout.least, expected - margin);
  return { ...seen, value, expected, lo, hi: expected + margin };
}

/** True if the seasonal profile raised the alarm of a row. */
export function isRaised({ verdict: { season } }: EventRow): boolean {
  return season?.raised === true;
}

/** True if a row is part of an incident, an alarm or not. */
export function deviates({ verdict: { grade, outsideProfile } }: EventRow, isBySeason: boolean): boolean {
  return grade >= DEVIATING_GRADE || (isBySeason && outsideProfile > 0);
}
