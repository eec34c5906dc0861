import { type AnomalyEvent, withEventDefaults } from '../record/anomaly-event.ts';
import { Conditions } from './conditions.ts';
import type { EventRows, EventSelection, KnownEvent } from './event-port.ts';
import type { HistorySql } from './history-database.ts';
import type { DeadLetterRow, HistoryPlace } from './history-port.ts';
import { survivingId } from './read-incidents.ts';

interface FoundEvent {
  readonly id: string;
  readonly started: number;
  readonly is_open: number;
  readonly incident_id: string | null;
  readonly record: string;
}

const IS_OPEN = 'CASE WHEN ended IS NULL THEN 1 ELSE 0 END';

const INCIDENT = '(SELECT incident_id FROM history_incident_events WHERE event_id = history_events.id) AS incident_id';

/** Open events first, then newest first. */
export async function readEvents(sql: HistorySql, selection: EventSelection): Promise<EventRows> {
  const { open, series, group, match, detector, kind, incident, fromMs, toMs, limit, after } = selection;
  const page = new Conditions().equals('detector', detector).equals('member_of', group).equals('kind', kind);
  if (open !== null) page.add(open ? 'ended IS NULL' : 'ended IS NOT NULL');
  if (series !== null) {
    const mark = page.mark(series);
    page.add(`(series = ${mark} OR id IN (SELECT event_id FROM history_members WHERE series = ${mark}))`);
  }
  if (match !== null) {
    const [own, member] = ['COALESCE(series, member_of)', 'series'].map((column) =>
      page.choice(column, match, sql.dialect),
    );
    page.add(`(${own} OR id IN (SELECT event_id FROM history_members WHERE ${member}))`);
  }
  if (incident !== null) {
    const ofIncident = `incident_id = ${survivingId(page.mark(incident))}`;
    page.add(`id IN (SELECT event_id FROM history_incident_events WHERE ${ofIncident})`);
  }
  if (fromMs !== null) page.add(`(ended IS NULL OR ended >= ${page.mark(fromMs)})`);
  if (toMs !== null) page.add(`started < ${page.mark(toMs)}`);
  if (after !== null) {
    const [isOpen, started, id] = after.map((key) => page.mark(key));
    const open = `CAST(${isOpen} AS INT4)`;
    const sameOpen = `started < ${started} OR (started = ${started} AND id > ${id})`;
    page.add(`(${IS_OPEN} < ${open} OR (${IS_OPEN} = ${open} AND (${sameOpen})))`);
  }
  const rows = await sql.query<FoundEvent>(
    `SELECT id, started, ${IS_OPEN} AS is_open, ${INCIDENT}, record FROM history_events ${page.where}
      ORDER BY is_open DESC, started DESC, id LIMIT ${page.mark(limit + 1)}`,
    page.values,
  );
  const [{ total }] = await sql.query<{ total: number }>(
    'SELECT COUNT(*) AS total FROM history_events WHERE ended IS NULL',
  );
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    events: shown.map(knownEvent),
    totalOpen: total,
    next: last === undefined ? null : [last.is_open, last.started, last.id],
  };
}

export async function readEvent(sql: HistorySql, id: string): Promise<KnownEvent | null> {
  const [row] = await sql.query<FoundEvent>(`SELECT ${INCIDENT}, record FROM history_events WHERE id = $1`, [id]);
  return row === undefined ? null : knownEvent(row);
}

/** A record of any version of the service, complete. */
function knownEvent({ record, incident_id: incidentId }: Pick<FoundEvent, 'record' | 'incident_id'>): KnownEvent {
  return { ...(withEventDefaults(JSON.parse(record)) as AnomalyEvent), incidentId };
}

const LETTER = 'SELECT partition, letter_offset AS "offset", reason, made_at AS "atMs", record FROM history_letters';

/** Dead letters, newest first. */
export async function readDeadLetters(
  sql: HistorySql,
  selection: {
    readonly reason: string | null;
    readonly limit: number;
    readonly after: readonly (string | number)[] | null;
  },
): Promise<{ readonly letters: readonly DeadLetterRow[]; readonly next: readonly (string | number)[] | null }> {
  const { reason, limit, after } = selection;
  const page = new Conditions().equals('reason', reason);
  if (after !== null) {
    const [at, partition, offset] = after.map((key) => page.mark(key));
    const sameTime = `partition < ${partition} OR (partition = ${partition} AND letter_offset < ${offset})`;
    page.add(`(made_at < ${at} OR (made_at = ${at} AND (${sameTime})))`);
  }
  const rows = await sql.query<DeadLetterRow>(
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
): Promise<DeadLetterRow | null> {
  const [row] = await sql.query<DeadLetterRow>(`${LETTER} WHERE partition = $1 AND letter_offset = $2`, [
    partition,
    offset,
  ]);
  return row ?? null;
}
