import type { KeptFields } from '../../history/port/history-port.ts';
import type { EventAnswer } from '../wire/schema/operations/event-schema.ts';
import type { SeriesNow } from '../wire/schema/operations/history-schema.ts';

export const NO_REVIEW: Pick<EventAnswer, 'acknowledged' | 'muted' | 'label' | 'incidentId'> = {
  incidentId: null,
  acknowledged: null,
  muted: null,
  label: null,
};

/** A score by the names of its record. */
export function shownSeries(score: KeptFields): SeriesNow {
  const { series, detector, group, timestampMs, value, forecast, lo, hi, anomalyScore, ...same } = score;
  const { grade, severity, alarm, anomaly, state } = same;
  const judged = { value, forecast, lo, hi, anomalyScore, grade, severity, alarm, anomaly, state };
  return { series, detector, group, timestampMs, ...judged };
}
