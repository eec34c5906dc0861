import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { Incident, IncidentEvent } from '../../records/incident.ts';
import {
  type FoundIncident,
  INCIDENT_EVENTS_MAX,
  type IncidentRows,
  type IncidentSelection,
  type IncidentStanding,
  MERGED_MAX,
  type SimilarIncident,
} from '../port/span-port.ts';
import { Conditions, type HistorySql } from '../sql/history-database.ts';
import { eventChosen, readSpans } from './read-spans.ts';

const SIMILAR_MAX = 5;
/** An event is in an incident sooner than that, where a process makes them. */
const NAMED_WITHIN_MS = 30_000;

/** The incident that the one of a parameter is part of now. */
export function survivingId(mark: string): string {
  return `COALESCE((SELECT merged_into FROM history_incidents WHERE id = ${mark}), ${mark})`;
}

/** Open incidents first, then newest first. */
export async function readIncidents(sql: HistorySql, selection: IncidentSelection): Promise<IncidentRows> {
  const { single, match, detector, kind } = selection;
  const page = unmerged(single).equals('kind', kind);
  if (detector !== null) page.add(hasEvent(`detector = ${page.mark(detector)}`));
  if (match !== null) page.add(hasEvent(eventChosen(page, 'event_id', match)));
  const { rows, next } = await readSpans(sql, { table: 'history_incidents' }, page, selection);
  const counted = unmerged(single).add('ended IS NULL');
  const [{ total }] = await sql.query<{ total: number }>(
    `SELECT COUNT(*) AS total FROM history_incidents ${counted.where}`,
    counted.values,
  );
  return { incidents: rows.map(({ record }) => JSON.parse(record) as Incident), totalOpen: total, next };
}

function unmerged(single: boolean | null): Conditions {
  const conditions = new Conditions().add('merged_into IS NULL');
  return single === null ? conditions : conditions.add(single ? "kind = 'single'" : "kind <> 'single'");
}

function hasEvent(condition: string): string {
  return `id IN (SELECT incident_id FROM history_incident_events WHERE ${condition})`;
}

export async function readIncident(sql: HistorySql, id: string): Promise<FoundIncident | null> {
  const [row] = await sql.query<{ record: string }>(
    `SELECT record FROM history_incidents WHERE id = ${survivingId('$1')}`,
    [id],
  );
  if (row === undefined) return null;
  const incident = JSON.parse(row.record) as Incident;
  const { incidentId } = incident;
  const events = await sql.query<{ named: string; newest: string | null }>(
    `SELECT named.record AS named, event.record AS newest FROM history_incident_events AS named
      LEFT JOIN history_events AS event ON event.id = named.event_id WHERE named.incident_id = $1
      ORDER BY named.started, named.event_id LIMIT ${INCIDENT_EVENTS_MAX}`,
    [incidentId],
  );
  const merged = await readMerged(sql, [incidentId]);
  return {
    incident: { ...incident, events: events.map(({ named, newest }) => knownMember(named, newest)) },
    mergedIds: merged.get(incidentId) ?? [],
    similar: await readSimilar(sql, incident),
  };
}

/** An event as it is now: its kind may have changed since a revision named it. It may have expired. */
function knownMember(namedRecord: string, newestRecord: string | null): IncidentEvent {
  const named = JSON.parse(namedRecord) as IncidentEvent;
  if (newestRecord === null) return named;
  const { kind, direction } = JSON.parse(newestRecord) as AnomalyEvent;
  return { ...named, kind, direction };
}

export async function readMerged(
  sql: HistorySql,
  incidentIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (incidentIds.length === 0) return new Map();
  const rows = await sql.query<{ id: string; survivor: string }>(
    `SELECT id, merged_into AS survivor FROM history_incidents
      WHERE merged_into IN (${incidentIds.map((_, i) => `$${i + 1}`).join(', ')}) ORDER BY id LIMIT ${MERGED_MAX}`,
    incidentIds,
  );
  const bySurvivor = Map.groupBy(rows, ({ survivor }) => survivor);
  return new Map([...bySurvivor].map(([survivor, merged]) => [survivor, merged.map(({ id }) => id)]));
}

const SUBJECT = "COALESCE('s' || series, 'g' || member_of)";

/** Earlier incidents, by the share of series that both have of all that either has. */
async function readSimilar(
  sql: HistorySql,
  { incidentId, startedAtMs }: Incident,
): Promise<readonly SimilarIncident[]> {
  const own = `SELECT DISTINCT detector, ${SUBJECT} AS subject FROM history_incident_events WHERE incident_id = $1`;
  const rows = await sql.query<{ record: string; common: number }>(
    `WITH own AS (${own}), other AS (
        SELECT DISTINCT incident_id, detector, ${SUBJECT} AS subject FROM history_incident_events
          WHERE incident_id <> $1),
      both_have AS (
        SELECT other.incident_id AS id, COUNT(*) AS common FROM other JOIN own
          ON own.detector = other.detector AND own.subject = other.subject GROUP BY other.incident_id),
      sizes AS (SELECT incident_id AS id, COUNT(*) AS size FROM other GROUP BY incident_id)
      SELECT incident.record, both_have.common FROM both_have
        JOIN sizes ON sizes.id = both_have.id
        JOIN history_incidents AS incident ON incident.id = both_have.id
        WHERE incident.merged_into IS NULL AND incident.started < $2
        ORDER BY CAST(both_have.common AS FLOAT8) / (sizes.size + (SELECT COUNT(*) FROM own) - both_have.common) DESC,
          incident.started DESC, incident.id LIMIT ${SIMILAR_MAX}`,
    [incidentId, startedAtMs],
  );
  return rows.map(({ record, common }) => ({ incident: JSON.parse(record) as Incident, commonCount: common }));
}

/** null if no incident was ever made. */
export async function readIncidentStanding(sql: HistorySql, nowMs: number): Promise<IncidentStanding | null> {
  const [{ open, newest }] = await sql.query<{ open: number; newest: number | null }>(
    `SELECT CAST(COALESCE(SUM(CASE WHEN ended IS NULL AND merged_into IS NULL THEN 1 ELSE 0 END), 0) AS INT4) AS open,
      MAX(kept_at) AS newest FROM history_incidents`,
  );
  if (newest === null) return null;
  const [{ since }] = await sql.query<{ since: number | null }>(
    `SELECT MIN(first_kept_at) AS since FROM history_events
      WHERE ended IS NULL AND first_kept_at > $1 AND first_kept_at < $2
        AND id NOT IN (SELECT event_id FROM history_incident_events)`,
    [newest, nowMs - NAMED_WITHIN_MS],
  );
  return { open, unnamedSinceMs: since };
}
