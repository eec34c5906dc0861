import type { EventAnswer } from '../../api/wire/schema/operations/event-schema.ts';
import { kindName, subjectName } from './words/event-words.ts';

/** Columns that a list of events is sorted by, and what of an event is compared. */
const COMPARED = {
  began: ({ startedAtMs }) => startedAtMs,
  kind: ({ kind }) => kindName(kind),
  series: subjectName,
  detector: ({ detector }) => detector,
  grade: ({ grade }) => grade ?? -1,
  severity: ({ severity }) => severity ?? -1,
  length: ({ startedAtMs, endedAtMs }) => (endedAtMs ?? Number.POSITIVE_INFINITY) - startedAtMs,
} satisfies Readonly<Record<string, (event: EventAnswer) => number | string>>;

export type EventColumn = keyof typeof COMPARED;

/** `-grade`: largest first. null: as the service lists them, open ones first, then newest first. */
interface EventOrder {
  readonly column: EventColumn;
  readonly isDescending: boolean;
}

export function parseOrder(text: string): EventOrder | null {
  const column = text.replace(/^-/, '');
  return Object.hasOwn(COMPARED, column) ? { column: column as EventColumn, isDescending: text.startsWith('-') } : null;
}

/** The order after a press on a column: numbers begin with the largest, names with the first; again turns it round. */
export function nextOrder(order: EventOrder | null, column: EventColumn): string {
  const isName = column === 'kind' || column === 'series' || column === 'detector';
  const isDescending = order?.column === column ? !order.isDescending : !isName;
  return `${isDescending ? '-' : ''}${column}`;
}

export function sortedEvents(events: readonly EventAnswer[], order: EventOrder | null): readonly EventAnswer[] {
  if (order === null) return events;
  const of = COMPARED[order.column];
  const sign = order.isDescending ? -1 : 1;
  return events.toSorted((a, b) => {
    const [left, right] = [of(a), of(b)];
    return left === right ? b.startedAtMs - a.startedAtMs : left < right ? -sign : sign;
  });
}
