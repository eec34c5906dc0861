import { leadingResidual, scaleOfChanges, scaleOfResiduals } from '../grade/grade-terms.ts';
import { peakOf } from './event-peak.ts';
import { levelBefore } from './event-return.ts';
import { inUnits, keepEarlierResiduals } from './kept-residuals.ts';
import { stuckRows } from './kind/ring-values.ts';
import { dayOfAlarm, rowsOfDay } from './open/day-event.ts';
import { type EventRow, type EventSubject, isRaised, type SeenValue } from './open/event-row.ts';
import type { Habit } from './open/habits.ts';
import { newEvent, type OpenEvent } from './open/open-event.ts';
import type { PeakRow } from './peak-row.ts';
import { isBeyondPast } from './stuck-peak.ts';

const THRESHOLD_DIGITS = 4;

interface BegunBy {
  /** The most unusual value of the alarm, and its row. */
  readonly most: SeenValue;
  readonly peakRow: PeakRow;
  /** It is on the side that the detector watches. */
  readonly isWatched: boolean;
  /** Rows before it belong to another event. */
  readonly from: number;
  readonly habits: readonly Habit[];
}

/** The event that an alarm opens. */
export function beginEvent(
  subject: EventSubject,
  row: EventRow,
  { most, peakRow, isWatched, from, habits }: BegunBy,
): OpenEvent {
  const { idOf, gap, stepMs } = subject;
  const { position, timestampMs, offset, verdict } = row;
  const { rings, value, expected } = most;
  const scale = scaleOfResiduals(rings);
  const run = Math.max(1, isRaised(row) ? verdict.outsideProfile : verdict.elevated);
  const isExtreme = isBeyondPast({ start: peakRow.position, scale }, peakRow.seen.value, { kept: most, position });
  const deviating = Math.max(Math.min(run, gap) - 1, isExtreme ? 0 : stuckRows(rings, position));
  const rowsBefore = position - peakRow.position;
  const day = verdict.season?.day;
  const leading = day === undefined ? deviating : rowsOfDay(day, stepMs);
  const lead = Math.max(rowsBefore, Math.min(leading, position - from));
  const start = position - lead;
  const isKept = day === undefined || start - gap > position - rings.layout.contextCapacity;
  const event = newEvent(subject, {
    eventId: idOf(offset),
    kind: day === undefined ? 'spike' : 'level_shift',
    begun: { position: start, timestampMs: timestampMs - Math.round(lead * stepMs) },
    firstAlarm: { position, timestampMs },
    leader: most.series,
    scale,
    changeScale: scaleOfChanges(rings),
    leading: inUnits(leadingResidual(rings, value - expected), scale),
    before: isKept ? levelBefore(most, start, gap) : null,
    peak: peakOf(row, peakRow, { ...subject, start, habits }),
    ...(Number.isFinite(verdict.threshold) && { threshold: Number(verdict.threshold.toFixed(THRESHOLD_DIGITS)) }),
    ...(rowsBefore > 0 && {
      lead: rowsBefore,
      // It extends to the alarm, which may be a row or two later than its cause.
      away: {
        until: { position, timestampMs },
        otherRows: rowsBefore - 1,
        counted: { timestampMs, alarms: 1 },
      },
    }),
    ...(day !== undefined && { day: dayOfAlarm(row, day, stepMs) }),
    ...(!isWatched && { isUnwatched: true }),
  });
  keepEarlierResiduals(event, most, position);
  return event;
}
