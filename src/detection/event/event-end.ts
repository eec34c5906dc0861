import type { AnomalyEvent, EventKind } from '../../records/anomaly-event.ts';
import { RETURN_ROWS, recoveringSince } from './event-reach.ts';
import { conclude } from './event-revision.ts';
import { recoveredKind } from './kind/event-kind.ts';
import { isBehindDay, isOfDay } from './open/day-event.ts';
import type { EventRow, EventSubject } from './open/event-row.ts';
import type { OpenEvent } from './open/open-event.ts';

/**
 * An episode is held open while the severity is above this share of its peak, and above what 95 of 100 typical rows
 * have, for at most so many gaps.
 */
const HELD_SHARE = 0.5;
const TYPICAL_SEVERITY = 16;
const HELD_GAPS = 4;
/** Kinds that are another state: their return belongs to them. */
const LASTING: readonly EventKind[] = ['level_shift', 'missing_season', 'stuck'];
/** A drift that is one event is held for so many gaps. */
const DRIFT_GAPS = 6;

/** True if an event ends with a row. */
export function endsAt(
  event: OpenEvent,
  { position, verdict, seen }: EventRow,
  { gap, rules }: Pick<EventSubject, 'gap' | 'rules'>,
): boolean {
  const { lastAlarm, severity, kind, day, ordinaryRows } = event;
  if (!isBehindDay(day, position) || seen.length === 0) return false;
  // What comes behind the day is another event.
  if (isOfDay(event)) return true;
  // Behind missing rows, one that is typical does not show that it is over.
  if (ordinaryRows > 0 && ordinaryRows < RETURN_ROWS) return false;
  const quiet = position - lastAlarm.position;
  if (quiet < gap) return false;
  if (kind === 'drift' && rules.onceInDrift) return quiet >= DRIFT_GAPS * gap;
  const held = Math.max(HELD_SHARE * (severity ?? 0), TYPICAL_SEVERITY);
  const isHeld = LASTING.includes(kind) || verdict.severity > held;
  return !isHeld || quiet >= HELD_GAPS * gap;
}

/**
 * True if the return of values is to be reported: once a gap, since they may come and go, and not just before the end.
 */
export function recovers(event: OpenEvent, position: number, gap: number): boolean {
  const since = recoveringSince(event);
  const { recovering = Number.NEGATIVE_INFINITY, lastAlarm } = event;
  if (since === null || recovering >= since.position || position - recovering < gap) return false;
  const rowsLeft = gap - (position - lastAlarm.position);
  return rowsLeft <= 0 || rowsLeft > RETURN_ROWS;
}

/** The last revision of an event whose values are back. */
export function concludeRecovered(event: OpenEvent, timestampMs: number): AnomalyEvent {
  event.kind = recoveredKind(event.kind, event.away.until.position - event.start, isBelow(event));
  return conclude(event, 'recovered', timestampMs);
}

export function isBelow({ peak: { value, expected } }: OpenEvent): boolean {
  return expected !== null && (value ?? 0) < expected;
}
