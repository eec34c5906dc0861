/** Urgency of a grade. PagerDuty and Alertmanager know all words but `usual`. */
export const URGENCIES = ['usual', 'warning', 'error', 'critical'] as const;
export type Urgency = (typeof URGENCIES)[number];

/** Lowest grades. About 1 row in 1,000 of most series reaches a half; an alarm by default about 0.7. */
const WARNING_FROM = 0.5;
const ERROR_FROM = 0.8;
const CRITICAL_FROM = 0.9;

/** @param grade null if there is no forecast, or alarms are off */
export function urgency(grade: number | null): Urgency {
  if (grade === null || grade < WARNING_FROM) return 'usual';
  if (grade < ERROR_FROM) return 'warning';
  return grade < CRITICAL_FROM ? 'error' : 'critical';
}

/** An event is at least a warning, also one without a grade, such as silence. */
export function eventUrgency({ grade }: { readonly grade: number | null }): Exclude<Urgency, 'usual'> {
  const ofPeak = urgency(grade);
  return ofPeak === 'usual' ? 'warning' : ofPeak;
}
