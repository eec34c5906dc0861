import type { KeptFields } from '../../history/history-port.ts';
import type { AnomalyEvent } from '../../record/anomaly-event.ts';
import type { EventAnswer, UnreviewedEvent } from '../wire/schema/event-schema.ts';
import type { SeriesNow } from '../wire/schema/history-schema.ts';

/** An event by the names of HTTP. */
export function shownEvent(event: AnomalyEvent): UnreviewedEvent {
  const { eventId, series, group, startedAtMs, peakAtMs, updatedAtMs, endedAtMs, closeReason, seriesCount, ...same } =
    event;
  return {
    event_id: eventId,
    ...same,
    series_id: series,
    group_id: group,
    started_at: startedAtMs,
    peak_at: peakAtMs,
    updated_at: updatedAtMs,
    ended_at: endedAtMs,
    close_reason: closeReason,
    members: event.members.map((member) => ({ series_id: member.series, share: member.share })),
    labels: { ...event.labels },
    // Events that were kept by earlier versions have none.
    series_count: seriesCount ?? null,
  };
}

/** The review of an event that nobody has reviewed. */
export const NO_REVIEW: Pick<EventAnswer, 'acknowledged' | 'muted' | 'label'> = {
  acknowledged: null,
  muted: null,
  label: null,
};

/** A score by the names of HTTP. */
export function shownSeries(score: KeptFields): SeriesNow {
  const { series: id, detector, group, timestampMs: timestamp, anomalyScore, ...numbers } = score;
  const { value, forecast, lo, hi, grade, severity, alarm, anomaly, state } = numbers;
  const bounds = { value, forecast, lo, hi, anomaly_score: anomalyScore };
  return { id, detector, group, timestamp, ...bounds, grade, severity, alarm, anomaly, state };
}
