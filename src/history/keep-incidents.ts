import type { HistoryBatch } from './port/history-port.ts';
import type { HistorySql } from './sql/history-database.ts';
import { upsertRows } from './sql/upsert-rows.ts';

/**
 * Revisions in the order they were written: the last one of an incident counts. Each names the events that joined, so
 * they are rows of their own; those of a merged incident move to the one that it is part of from now on.
 */
export async function keepIncidents(
  sql: HistorySql,
  incidents: HistoryBatch['incidents'],
  nowMs: number,
): Promise<void> {
  const newest = new Map(incidents.map(({ incident }) => [incident.incidentId, incident]));
  const named = incidents.flatMap(({ incident }) => incident.events.map((event) => ({ incident, event })));
  await upsertRows(sql, {
    table: 'history_incidents',
    rows: [...newest.values()].map((incident) => {
      const { incidentId, kind, mergedInto, startedAtMs, endedAtMs } = incident;
      const found = [incidentId, kind, mergedInto, startedAtMs, endedAtMs];
      return [...found, nowMs, JSON.stringify({ ...incident, events: [] })];
    }),
    onConflict: `(id) DO UPDATE SET kind = excluded.kind, merged_into = excluded.merged_into,
      started = excluded.started, ended = excluded.ended, kept_at = excluded.kept_at, record = excluded.record`,
  });
  await upsertRows(sql, {
    table: 'history_incident_events',
    rows: [...new Map(named.map((each) => [each.event.eventId, each])).values()].map(({ incident, event }) => {
      const { eventId, detector, series, group, startedAtMs } = event;
      return [eventId, incident.incidentId, detector, series, group, startedAtMs, JSON.stringify(event)];
    }),
    onConflict: '(event_id) DO UPDATE SET incident_id = excluded.incident_id, record = excluded.record',
  });
  await mergeIncidents(sql, incidents);
}

async function mergeIncidents(sql: HistorySql, incidents: HistoryBatch['incidents']): Promise<void> {
  const into = new Map<string, string>();
  for (const { incident } of incidents) {
    if (incident.mergedInto !== null) into.set(incident.incidentId, incident.mergedInto);
  }
  if (into.size === 0) return;
  const merges = [...into.keys()].map((id) => {
    let survivor = into.get(id)!;
    for (let next = into.get(survivor); next !== undefined; next = into.get(survivor)) survivor = next;
    return [id, survivor];
  });
  const marks = merges.map((_, i) => `(CAST($${2 * i + 1} AS TEXT), CAST($${2 * i + 2} AS TEXT))`);
  const merged = `(VALUES ${marks.join(', ')}) AS merged (id, survivor)`;
  for (const [table, column] of [
    ['history_incident_events', 'incident_id'],
    ['history_incidents', 'merged_into'],
  ]) {
    await sql.query(
      `UPDATE ${table} SET ${column} = merged.survivor FROM ${merged} WHERE ${table}.${column} = merged.id`,
      merges.flat(),
    );
  }
}
