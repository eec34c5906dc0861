import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { Incident } from '../../records/incident.ts';
import type { SeriesPattern } from '../../records/series/series-pattern.ts';
import { dimmed, formatGrade, formatTime, GRADE_WIDTH, marked, printable, type ScoreLineStyle } from './score-line.ts';

const TYPE_WIDTH = 7;

export function eventLineHeader({ colour, seriesWidth }: ScoreLineStyle): string {
  const titles = ['  time (UTC)'.padEnd(21), 'event'.padEnd(TYPE_WIDTH), 'series'.padEnd(seriesWidth)];
  const header = [...titles, 'grade'.padStart(GRADE_WIDTH), 'what'].join('  ');
  return colour ? dimmed(header) : header;
}

/**
 * One revision of an event as a line for people: time, type, series (group, detector), grade, summary. One that was
 * opened begins with `!`. A reason to close it that its summary does not name is in brackets.
 */
export function eventLine(event: AnomalyEvent, { colour, seriesWidth }: ScoreLineStyle): string {
  const { type, updatedAtMs, series, group, detector, grade, summary, closeReason } = event;
  const owner = printable(series ?? (group === null ? `detector ${detector}` : `group ${group}`));
  const isTold = closeReason === null || closeReason === 'recovered' || closeReason === 'new_level';
  const reason = isTold ? '' : ` (${closeReason.replaceAll('_', ' ')})`;
  const line = [
    `${type === 'opened' ? '!' : ' '} ${formatTime(updatedAtMs).padEnd(19)}`,
    type.padEnd(TYPE_WIDTH),
    owner.padEnd(seriesWidth),
    formatGrade(grade).padStart(GRADE_WIDTH),
    `${printable(summary)}${reason}`,
  ].join('  ');
  if (!colour) return line;
  return type === 'opened' ? marked(line) : type === 'closed' ? dimmed(line) : line;
}

/** True if an event is about a series whose id matches. A pause of a detector is: it names none of its series. */
export function isAbout({ series, members, seriesCount }: AnomalyEvent, pattern: SeriesPattern): boolean {
  if (seriesCount !== null) return true;
  const ids = series === null ? members.map((member) => member.series) : [series];
  return ids.some((id) => pattern.test(id));
}

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
