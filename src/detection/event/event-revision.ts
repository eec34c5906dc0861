import type { AnomalyEvent, CloseReason, EventDirection, EventType } from '../../records/anomaly-event.ts';
import { shownLabels } from '../../records/series/series-id.ts';
import { reachedEnd, recoveringSince } from './event-reach.ts';
import { summaryOf } from './open/event-summary.ts';
import { sharesOf } from './open/member-shares.ts';
import type { OpenEvent } from './open/open-event.ts';

/** Direction is `both` where the rarer one has this share of the alarms. */
const BOTH_SHARE = 0.25;

/** The next revision of an event. */
export function revise(event: OpenEvent, type: 'opened' | 'updated', timestampMs: number): AnomalyEvent {
  event.revision++;
  return revisionOf(event, type, timestampMs);
}

/** The last revision of an event. It is never earlier than the last alarm, and no event ends after it. */
export function conclude(event: OpenEvent, closeReason: CloseReason, timestampMs: number): AnomalyEvent {
  event.revision++;
  const closedAtMs = Math.max(timestampMs, event.lastAlarm.timestampMs);
  return revisionOf(event, 'closed', closedAtMs, closeReason);
}

function revisionOf(
  event: OpenEvent,
  type: EventType,
  updatedAtMs: number,
  closeReason: CloseReason | null = null,
): AnomalyEvent {
  const { start, startedAtMs, firstAlarm, kind, severity, labels } = event;
  const { until, counted } = reachedEnd(event, closeReason, updatedAtMs);
  const recoveringSinceMs = closeReason === null ? (recoveringSince(event)?.timestampMs ?? null) : null;
  const { timestampMs: peakAtMs, grade, value, expected, lo, hi, unusual, series: of } = event.peak;
  const direction = directionOf(event);
  const members = sharesOf(event.shares);
  const seriesCount = event.seriesCount ?? null;
  const unit = event.unit ?? null;
  // A silence lasts until it is closed.
  const lastMs = kind === 'silence' ? updatedAtMs : Math.min(until.timestampMs, updatedAtMs);
  const endedAtMs = closeReason === null ? null : lastMs;
  const sinceMs = kind === 'stuck' ? (event.stuckAtMs ?? startedAtMs) : startedAtMs;
  return {
    eventId: event.eventId,
    type,
    revision: event.revision,
    detector: event.detector,
    series: event.series,
    group: event.group,
    kind,
    direction,
    startedAtMs,
    firstAlarmAtMs: firstAlarm.timestampMs,
    peakAtMs,
    lastAlarmAtMs: counted.timestampMs,
    updatedAtMs,
    endedAtMs,
    severity,
    grade,
    value,
    expected,
    lo,
    hi,
    alarms: counted.alarms,
    observations: Math.max(1, until.position - start),
    closeReason,
    summary: summaryOf(
      { kind, direction, value, expected, lo, hi, unusual, members, seriesCount, unit, of, days: event.days ?? 1 },
      {
        startedAtMs: sinceMs,
        endedAtMs,
        recoveringSinceMs,
        closeReason,
        originMs: event.originMs === undefined ? 0 : event.originMs,
      },
    ),
    unusual,
    members,
    labels,
    seriesCount,
    seriesLabels: event.seriesLabels ?? shownLabels(event.series ?? event.group ?? ''),
    unit,
    recoveringSinceMs,
    threshold: event.threshold ?? null,
  };
}

/** That of the peak, unless many alarms are on the other side. */
function directionOf({ kind, alarmsBelow, alarmsAbove, peak }: OpenEvent): EventDirection {
  if (kind === 'silence') return 'down';
  const below = alarmsBelow / (alarmsBelow + alarmsAbove);
  if (below >= BOTH_SHARE && below <= 1 - BOTH_SHARE) return 'both';
  return peak.expected !== null && (peak.value ?? 0) < peak.expected ? 'down' : 'up';
}
