import type { AnomalyEvent } from '../../detector/event/event.ts';

/** How much an event asks for, in the words that PagerDuty and Alertmanager know. */
export type Urgency = 'critical' | 'error' | 'warning';

/** Grades from which an event is more than a warning. An alarm of the default promise has a grade of about 0.7. */
const CRITICAL_FROM = 0.9;
const ERROR_FROM = 0.8;

/** The urgency of an event by its grade; a warning where it has none, as with silence. */
export function alertUrgency({ grade }: Pick<AnomalyEvent, 'grade'>): Urgency {
  if (grade === null) return 'warning';
  if (grade >= CRITICAL_FROM) return 'critical';
  return grade >= ERROR_FROM ? 'error' : 'warning';
}
