import type { AnomalyEvent } from '../../record/anomaly-event.ts';

/** The events that reach into the scored values, from the revisions of a whole history. */
export function windowEvents(
  revisions: readonly AnomalyEvent[],
  { stepMs, windowStart }: { readonly stepMs: number; readonly windowStart: number },
) {
  const newest = new Map(revisions.map((event) => [event.eventId, event]));
  const positionOf = (timeMs: number) => Math.round(timeMs / stepMs);
  return [...newest.values()].flatMap((event) => {
    const { series, kind, direction, startedAtMs, peakAtMs, endedAtMs, observations, alarms, members } = event;
    const { severity, grade, value, expected, summary, unusual } = event;
    const start = positionOf(startedAtMs);
    const end = start + observations - 1;
    if (endedAtMs !== null && end < windowStart) return [];
    return {
      series: series === null ? null : Number(series),
      kind,
      direction,
      open: endedAtMs === null,
      start,
      peak: positionOf(peakAtMs),
      end,
      alarms,
      severity,
      grade,
      value,
      expected,
      summary,
      unusual,
      members: members.map((member) => ({ series: Number(member.series), share: member.share })),
    };
  });
}
