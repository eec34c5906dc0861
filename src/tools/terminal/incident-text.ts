import type { Incident } from '../../records/incident.ts';
import { formatGrade, formatTime, GRADE_WIDTH, marked, printable, type ScoreLineStyle } from './score-line.ts';

const TYPE_WIDTH = 7;
const EVENTS_WIDTH = 6;

export function incidentLineHeader(): string {
  const titles = ['  time (UTC)'.padEnd(21), 'incident'.padEnd(TYPE_WIDTH + 1), 'events'.padStart(EVENTS_WIDTH)];
  return [...titles, 'grade'.padStart(GRADE_WIDTH), 'what'].join('  ');
}

/**
 * One revision of an incident as a line for people: time, type, events so far, grade, summary, and the evidence for the
 * first place where it may have begun. One that was opened begins with `!`.
 */
export function incidentLine(
  { type, updatedAtMs, eventCount, grade, summary, origins, mergedInto }: Incident,
  { colour }: Pick<ScoreLineStyle, 'colour'>,
): string {
  const evidence = origins[0]?.evidence ?? [];
  const text = mergedInto === null ? [summary, ...evidence].join('; ') : `part of ${mergedInto} from now on`;
  const line = [
    `${type === 'opened' ? '!' : ' '} ${formatTime(updatedAtMs).padEnd(19)}`,
    type.padEnd(TYPE_WIDTH + 1),
    String(eventCount).padStart(EVENTS_WIDTH),
    formatGrade(grade).padStart(GRADE_WIDTH),
    printable(text),
  ].join('  ');
  return colour && type === 'opened' ? marked(line) : line;
}
