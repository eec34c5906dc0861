/** Kinds of events. `silence` is no value at all; the others are classified by event-kind.ts. */
export const EVENT_KINDS = [
  'spike',
  'dip',
  'level_shift',
  'drift',
  'missing_season',
  'stuck',
  'burst',
  'silence',
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** Each event is opened once, updated at most once a detection window, and closed once. */
export const EVENT_TYPES = ['opened', 'updated', 'closed'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const EVENT_DIRECTIONS = ['up', 'down', 'both'] as const;
export type EventDirection = (typeof EVENT_DIRECTIONS)[number];

export const CLOSE_REASONS = [
  /** No alarm for a detection window, and the severity has fallen. */
  'recovered',
  /** The same, and values stay where they went: forecasts expect them there by now. */
  'new_level',
  /** The state of the series or group was dropped to make room. */
  'evicted',
  /** Nothing arrives any more, or nothing arrived for longer than the gap limit. */
  'silent',
  /** A silent series sends again. */
  'returned',
  'detector_removed',
  'settings_changed',
] as const;
export type CloseReason = (typeof CLOSE_REASONS)[number];

/** The part of a group's member in an event. */
export interface EventMember {
  readonly series: string;
  /** 0..1; the shares of all members add up to 1. */
  readonly share: number;
}

/**
 * One revision of an event: a stretch of alarms of one series or group, as it was known at `updatedAtMs`. The last one
 * is `closed`. Times are event times, integer milliseconds since the epoch.
 */
export interface AnomalyEvent {
  /** 32 hexadecimal digits; the same in every revision, and in a replay of the same input. */
  readonly eventId: string;
  readonly type: EventType;
  /** 0, 1, 2, ... */
  readonly revision: number;
  readonly detector: string;
  /** null for an event of a group, and for one of a whole detector. */
  readonly series: string | null;
  /** null if the series is scored alone, and for an event of a whole detector. */
  readonly group: string | null;
  readonly kind: EventKind;
  readonly direction: EventDirection;
  /** Event time of the first row that deviates: in the run of rows that leads to the first alarm. */
  readonly startedAtMs: number;
  readonly firstAlarmAtMs: number;
  /** Event time of the peak: the row farthest from what was expected. */
  readonly peakAtMs: number;
  /** The last one by now; of a closed event the last before its end: alarms of the way back are none of it. */
  readonly lastAlarmAtMs: number;
  /** Event time of the observation that this revision was made at. */
  readonly updatedAtMs: number;
  /**
   * Event time of the first row of the return to normal: of values, or of forecasts to a new level. null while the
   * event is open.
   */
  readonly endedAtMs: number | null;
  /** The highest of its alarms; null for an event that is none of unusual values. */
  readonly severity: number | null;
  /** The highest of its alarms; null if the severity is. */
  readonly grade: number | null;
  /** At the peak; of its most unusual member where it is a group's. */
  readonly value: number | null;
  readonly expected: number | null;
  /** Bounds of the interval at the peak; null in a group. */
  readonly lo: number | null;
  readonly hi: number | null;
  /** Alarms from the first to the last one. */
  readonly alarms: number;
  /** Time steps since the start, as far as rows deviate. */
  readonly observations: number;
  /** null until it is closed. */
  readonly closeReason: CloseReason | null;
  /** One sentence: what was seen, what was expected. */
  readonly summary: string;
  /** Rarity of the peak in its series, such as `highest in 14 days`; null if it is not. */
  readonly unusual: string | null;
  /** Members of a group, the largest share first; empty for a series. */
  readonly members: readonly EventMember[];
  readonly labels: Readonly<Record<string, string>>;
  /** Number of series that have stopped, if the detector pauses in a partition; otherwise null. */
  readonly seriesCount: number | null;
  /**
   * Labels of the series, its name as `__name__`, or what the series of the group have in common; empty if series
   * have none.
   */
  readonly seriesLabels: Readonly<Record<string, string>>;
  /** Unit of the values, such as `bytes`; null if the detector names none. */
  readonly unit: string | null;
  /** Event time of the first value that is back, of an open event; otherwise null. */
  readonly recoveringSinceMs: number | null;
  /**
   * Grade that a row of the series must exceed alone for an alarm, at the first alarm: how unusual its rows usually
   * are. null for an event that is none of unusual values.
   */
  readonly threshold: number | null;
}

/** Fields that records of earlier versions lack, as schemas have them. */
export const EVENT_DEFAULTS = {
  firstAlarmAtMs: null,
  lastAlarmAtMs: null,
  seriesCount: null,
  seriesLabels: {},
  unit: null,
  recoveringSinceMs: null,
  threshold: null,
};

/**
 * An event with what records of earlier versions lack. They began with the first alarm, and ended with the last one; as
 * long as one was open, only that of its peak is known.
 */
export function withEventDefaults(raw: object | null): object {
  const { startedAtMs, endedAtMs, peakAtMs }: Partial<AnomalyEvent> = raw ?? {};
  const known = Object.fromEntries(
    Object.entries(raw ?? {}).filter(([, value]) => value !== null && value !== undefined),
  );
  const alarms = { firstAlarmAtMs: startedAtMs, lastAlarmAtMs: endedAtMs ?? peakAtMs };
  return { ...raw, ...EVENT_DEFAULTS, ...alarms, ...known };
}

/** Labels of a detector that help the person on call: the first that exists of each list. */
const LABELS = {
  runbook: ['runbook_url', 'runbook'],
  nextStep: ['next_step', 'action'],
  owner: ['owner'],
} as const;

/** A text is empty without its label. */
export function guidanceOf(labels: Readonly<Record<string, string>>): Readonly<Record<keyof typeof LABELS, string>> {
  const textOf = (names: readonly string[]) => {
    const name = names.find((each) => Object.hasOwn(labels, each));
    return name === undefined ? '' : labels[name];
  };
  return { runbook: textOf(LABELS.runbook), nextStep: textOf(LABELS.nextStep), owner: textOf(LABELS.owner) };
}
