import { type AnomalyEvent, withEventDefaults } from '../../records/anomaly-event.ts';
import type { DeadLetterRows, DeadLetterSelection, HistoryPlace, KeptDeadLetter } from '../port/history-port.ts';
import type { EventRows, EventSelection, KnownEvent } from '../port/span-port.ts';
import { Conditions, type HistorySql } from '../sql/history-database.ts';
import { survivingId } from './read-incidents.ts';
import { eventChosen, readSpans } from './read-spans.ts';

interface FoundEvent {
  readonly incident_id: string | null;
  readonly record: string;
}

const INCIDENT = '(SELECT incident_id FROM history_incident_events WHERE event_id = history_events.id) AS incident_id';

/** Open events first, then newest first. */
export async function readEvents(sql: HistorySql, selection: EventSelection): Promise<EventRows> {
  const { series, group, match, detector, kind, incident } = selection;
  const page = new Conditions().equals('detector', detector).equals('member_of', group).equals('kind', kind);
  if (series !== null) {
    const mark = page.mark(series);
    page.add(`(series = ${mark} OR id IN (SELECT event_id FROM history_members WHERE series = ${mark}))`);
  }
  if (match !== null) page.add(eventChosen(page, 'id', match));
  if (incident !== null) {
    const ofIncident = `incident_id = ${survivingId(page.mark(incident))}`;
    page.add(`id IN (SELECT event_id FROM history_incident_events WHERE ${ofIncident})`);
  }
  const found = { table: 'history_events', columns: [INCIDENT] };
  const { rows, next } = await readSpans<FoundEvent>(sql, found, page, selection);
  const [{ total }] = await sql.query<{ total: number }>(
    'SELECT COUNT(*) AS total FROM history_events WHERE ended IS NULL',
  );
  return { events: rows.map(knownEvent), totalOpen: total, next };
}

export async function readEvent(sql: HistorySql, id: string): Promise<KnownEvent | null> {
  const [row] = await sql.query<FoundEvent>(`SELECT ${INCIDENT}, record FROM history_events WHERE id = $1`, [id]);
  return row === undefined ? null : knownEvent(row);
}

/** A record of any version of the service, complete. */
function knownEvent({ record, incident_id: incidentId }: FoundEvent): KnownEvent {
  return { ...(withEventDefaults(JSON.parse(record)) as AnomalyEvent), incidentId };
}

const LETTER = 'SELECT partition, letter_offset AS "offset", reason, made_at AS "atMs", record FROM history_letters';

/** Dead letters, newest first. */
export async function readDeadLetters(
  sql: HistorySql,
  { reason, limit, after }: DeadLetterSelection,
): Promise<DeadLetterRows> {
  const page = new Conditions().equals('reason', reason);
  if (after !== null) {
    const [at, partition, offset] = after.map((key) => page.mark(key));
    const sameTime = `partition < ${partition} OR (partition = ${partition} AND letter_offset < ${offset})`;
    page.add(`(made_at < ${at} OR (made_at = ${at} AND (${sameTime})))`);
  }
  const rows = await sql.query<KeptDeadLetter>(
    `${LETTER} ${page.where} ORDER BY made_at DESC, partition DESC, letter_offset DESC LIMIT ${page.mark(limit + 1)}`,
    page.values,
  );
  const letters = rows.slice(0, limit);
  const last = rows.length > limit ? letters.at(-1) : undefined;
  return { letters, next: last === undefined ? null : [last.atMs, last.partition, last.offset] };
}

export async function readDeadLetter(
  sql: HistorySql,
  { partition, offset }: HistoryPlace,
): Promise<KeptDeadLetter | null> {
  const [row] = await sql.query<KeptDeadLetter>(`${LETTER} WHERE partition = $1 AND letter_offset = $2`, [
    partition,
    offset,
  ]);
  return row ?? null;
}
