const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Two events are at the same time of the day where they begin so near: a change of the clock lies within. */
const SAME_TIME_MS = HOUR_MS;

/** Events that begin on one day after the other, at about the same time. */
export interface DailyHabit {
  /** Event time of the newest one. */
  readonly atMs: number;
  /** Days in a row, that of the newest one included. */
  readonly days: number;
}

/** The habit with an event that begins; null where it is a further one of the same day, and tells nothing. */
export function habitWith(habit: DailyHabit | null, atMs: number, stepMs: number): DailyHabit | null {
  if (stepMs > SAME_TIME_MS) return null;
  if (habit === null || isOver(habit, atMs)) return { atMs, days: 1 };
  return atMs - habit.atMs < DAY_MS - SAME_TIME_MS ? null : { atMs, days: habit.days + 1 };
}

/** Whether no event can go on with it any more. */
export function isOver({ atMs }: DailyHabit, nowMs: number): boolean {
  return nowMs - atMs > DAY_MS + SAME_TIME_MS;
}

const ORDINALS = ['second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'] as const;

/** `third day in a row at this time`; null on the first one. */
export function habitText(days: number): string | null {
  if (days < 2) return null;
  const ordinal = ORDINALS[days - 2];
  return `${ordinal === undefined ? `day ${days}` : `${ordinal} day`} in a row at this time`;
}
