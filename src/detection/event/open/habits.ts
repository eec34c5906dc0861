const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Events are at the same time of the day if they begin so close: a change of the clock is within. */
const SAME_TIME_MS = HOUR_MS;
/** Longer steps do not resolve the time of the day. */
export const HABIT_STEP_MAX_MS = SAME_TIME_MS;
/** An event recurs within so many days, or in the week after the next: forecasts may expect it in between. */
const RECURRENCE_DAYS = [0, 1, 2, 3, 4, 5, 6, 7, 14];
/** From so many occurrences on, the next one is usual. */
const USUAL_TIMES = 4;
/** Values are alike within this share of how far they lay from their forecasts. */
const ALIKE_SHARE = 0.25;
/** Habits that are remembered: the newest ones. */
const HABITS_MAX = 4;

/** Events of about one value that begin at about the same time of the day. */
export interface Habit {
  /** Event time of the newest one. */
  readonly atMs: number;
  /** Days in a row with an event at this time, that of the newest included. */
  readonly days: number;
  /** All of them, the newest value, and the farthest that one lay from its forecast; left out by earlier versions. */
  readonly times?: number;
  readonly value?: number | null;
  readonly size?: number;
  /** The member of a group whose value it is. */
  readonly series?: string;
}

/** The first row of an event. */
type HabitualRow = Pick<Habit, 'atMs' | 'value' | 'size' | 'series'>;

/** The habits with an event that begins. A further one of the same day counts once. */
export function withOccurrence(habits: readonly Habit[], row: HabitualRow): readonly Habit[] {
  const atTime = habits.filter((habit) => isAtTimeOf(habit, row.atMs));
  const alike = atTime.find((habit) => isAlike(habit, row));
  if (alike !== undefined && daysSince(alike, row.atMs) === 0) return habits;
  const size = inShort(Math.max(row.size ?? 0, alike?.size ?? 0));
  const value = row.value === undefined || row.value === null ? null : inShort(row.value);
  const next = { ...row, value, days: daysInARow(habits, row.atMs), times: (alike?.times ?? 0) + 1, size };
  const others = habits.filter((habit) => habit !== alike && !isOver(habit, row.atMs));
  return [next, ...others].slice(0, HABITS_MAX);
}

/** Every observation writes it: six digits are enough to compare with. */
function inShort(number: number): number {
  return Number(number.toPrecision(6));
}

/** The days in a row with an event at this time, that of one that begins now included. */
export function daysInARow(habits: readonly Habit[], atMs: number): number {
  const before = habits.filter((habit) => isAtTimeOf(habit, atMs) && daysSince(habit, atMs) === 1);
  return 1 + Math.max(0, ...before.map(({ days }) => days));
}

/** True if such events came so often at this time of the day that one more is usual. */
export function isUsual(habits: readonly Habit[], row: HabitualRow): boolean {
  return habits.some((habit) => {
    return (habit.times ?? 0) >= USUAL_TIMES && isAtTimeOf(habit, row.atMs) && isAlike(habit, row);
  });
}

/** True if an event of an earlier day at this time had a value outside of the range: that one is not usual then. */
export function contradict(habits: readonly Habit[], atMs: number, [from, to]: readonly [number, number]): boolean {
  return habits.some((habit) => {
    const { value } = habit;
    if (value === undefined || value === null || daysSince(habit, atMs) === 0) return false;
    return isAtTimeOf(habit, atMs) && (value < from || value > to);
  });
}

function isAlike({ value, size = 0, series }: Habit, row: HabitualRow): boolean {
  if (value === undefined || value === null || row.value === undefined || row.value === null) return false;
  return series === row.series && Math.abs(row.value - value) <= ALIKE_SHARE * Math.max(size, row.size ?? 0);
}

function isAtTimeOf(habit: Habit, atMs: number): boolean {
  const days = daysSince(habit, atMs);
  return RECURRENCE_DAYS.includes(days) && Math.abs(atMs - habit.atMs - days * DAY_MS) <= SAME_TIME_MS;
}

function daysSince(habit: Habit, atMs: number): number {
  return Math.round((atMs - habit.atMs) / DAY_MS);
}

function isOver({ atMs }: Habit, nowMs: number): boolean {
  return nowMs - atMs > Math.max(...RECURRENCE_DAYS) * DAY_MS + SAME_TIME_MS;
}

const ORDINALS = ['second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'] as const;

/** `third day in a row at this time`; null on the first one. */
export function habitText(days: number): string | null {
  if (days < 2) return null;
  const ordinal = ORDINALS[days - 2];
  return `${ordinal === undefined ? `day ${days}` : `${ordinal} day`} in a row at this time`;
}
