import { KEPT_FIELDS, type KeptFields } from '../../history/port/history-port.ts';
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
  return Object.fromEntries(KEPT_FIELDS.map((field) => [field, score[field]])) as KeptFields;
}
