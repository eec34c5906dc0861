import type { CloseReason, EventKind } from '../../records/anomaly-event.ts';
import { notBeforeDay } from './open/day-event.ts';
import { behind, type CountedAlarm, type EventMoment, type Reach } from './open/event-moment.ts';
import type { OpenEvent } from './open/open-event.ts';

/** Typical rows in a row, behind the last alarm, that are the return to normal. */
export const RETURN_ROWS = 3;

/** Relation of a row to an open event. */
interface ReachingRow {
  readonly isAlarm: boolean;
  readonly deviates: boolean;
  /** null if nothing was observed that shows it. */
  readonly isDisplaced: boolean | null;
  readonly stepMs: number;
}

/** Tracks the next row: how far the event reaches. A row without a value shows nothing of it. */
export function reach(
  event: OpenEvent,
  at: EventMoment,
  { isAlarm, deviates, isDisplaced, stepMs }: ReachingRow,
): void {
  const all: Reach = { until: event.until, otherRows: event.ordinaryRows };
  const counted = isAlarm ? { timestampMs: at.timestampMs, alarms: event.alarms } : undefined;
  extend(all, at, { belongs: isAlarm || deviates, counted, stepMs });
  event.until = all.until;
  event.ordinaryRows = all.otherRows;
  if (all.counted) event.counted = all.counted;
  if (isDisplaced !== null) extend(event.away, at, { belongs: isDisplaced, counted, stepMs });
}

/** The end is the first row that is seen to be none of it: behind missing rows, the first one that is observed. */
function extend(
  reach: Reach,
  { position, timestampMs }: EventMoment,
  row: { readonly belongs: boolean; readonly counted: CountedAlarm | undefined; readonly stepMs: number },
): void {
  if (!row.belongs) {
    if (reach.otherRows === 0) reach.until = { position, timestampMs };
    reach.otherRows = Math.min(reach.otherRows + 1, RETURN_ROWS);
  } else if (row.counted !== undefined || reach.otherRows < RETURN_ROWS) {
    reach.until = behind({ position, timestampMs }, row.stepMs);
    reach.otherRows = 0;
    if (row.counted !== undefined) reach.counted = row.counted;
  }
}

/** Extends an event by a row that is typical alone, such as one more repetition of a stuck value. */
export function lastUntil(event: OpenEvent, at: EventMoment, stepMs: number): void {
  event.until = behind(at, stepMs);
  event.ordinaryRows = 0;
}

/** Values of these kinds are away. */
const AWAY: readonly EventKind[] = ['spike', 'dip', 'level_shift', 'drift'];

/**
 * Values are back before forecasts, and shapes, are. Where they stay away it ends as forecasts have followed. Alarms of
 * the way back are none of the event.
 */
export function reachedEnd(
  event: OpenEvent,
  closeReason: CloseReason | null,
  nowMs: number,
): Required<Omit<Reach, 'otherRows'>> {
  const { kind, until, away, day, lastAlarm, alarms, counted = away.counted } = event;
  const last = { timestampMs: lastAlarm.timestampMs, alarms };
  const isBack = AWAY.includes(kind) && closeReason !== 'new_level';
  const reached = isBack ? away.until : until;
  const end = closeReason === null ? reached : notBeforeDay(reached, day, nowMs);
  return {
    until: end,
    counted: last.timestampMs < end.timestampMs ? last : ((isBack ? away.counted : counted) ?? last),
  };
}

/** The first row after an open event so far; null while it continues. A missing season is checked once a gap. */
export function recoveringSince({ kind, until, ordinaryRows, away, day }: OpenEvent): EventMoment | null {
  if (kind === 'silence' || kind === 'missing_season' || day !== undefined) return null;
  const [first, rows] = AWAY.includes(kind) ? [away.until, away.otherRows] : [until, ordinaryRows];
  return rows >= RETURN_ROWS ? first : null;
}
