import type { Sql } from './database/database.ts';
import {
  acknowledgedColumns,
  acknowledgeEvents,
  type EventReviewRecord,
  mutedColumns,
  muteEvents,
  type ReviewAct,
  type ReviewColumns,
  type ReviewedEvent,
} from './event-reviews.ts';

/** An incident, and those that were merged into it: what is said of it replaces what was said of them. */
export interface WholeIncident {
  readonly incidentId: string;
  readonly mergedIds: readonly string[];
}

/** The review of an incident by people. It holds for its events, also for those that join later. */
export type IncidentReviewRecord = Pick<EventReviewRecord, 'acknowledged' | 'muted'>;

export interface ReviewedIncident extends WholeIncident {
  readonly events: readonly ReviewedEvent[];
}

/** What people say about a part of an incident: an event does not belong to it, or where it began. */
export const INCIDENT_VERDICTS = ['not-related', 'origin'] as const;
export type IncidentVerdict = (typeof INCIDENT_VERDICTS)[number];

export interface VerdictSubject {
  readonly verdict: IncidentVerdict;
  /** The event, or the series or what is common of an origin. */
  readonly subject: string;
}

export interface VerdictRecord extends VerdictSubject {
  readonly incidentId: string;
  readonly atMs: number;
  readonly by: string;
  readonly note: string | null;
}

interface IncidentReviewRow {
  readonly incident_id: string;
  readonly acknowledged_at: number | null;
  readonly acknowledged_by: string;
  readonly acknowledged_note: string | null;
  readonly muted_at: number | null;
  readonly muted_by: string;
  readonly muted_until: number;
  readonly muted_reason: string;
}

/** Reviews of these incidents; those that nobody reviewed are absent. */
export async function incidentReviewsOf(
  sql: Sql,
  incidentIds: readonly string[],
): Promise<Map<string, IncidentReviewRecord>> {
  if (incidentIds.length === 0) return new Map();
  const rows = await sql.query<IncidentReviewRow>(
    `SELECT * FROM incident_reviews WHERE incident_id IN (${marks(incidentIds)})`,
    incidentIds,
  );
  return new Map(rows.map((row) => [row.incident_id, reviewOf(row)]));
}

/** An incident is acknowledged with all of its events. @param act null takes it back */
export async function acknowledgeIncident(
  sql: Sql,
  incident: ReviewedIncident,
  act: Parameters<typeof acknowledgeEvents>[2],
): Promise<IncidentReviewRecord> {
  await acknowledgeEvents(sql, incident.events, act);
  return review(sql, incident, acknowledgedColumns(act));
}

/** An incident is muted with all of its events. @param act null ends it */
export async function muteIncident(
  sql: Sql,
  incident: ReviewedIncident,
  act: Parameters<typeof muteEvents>[2],
): Promise<IncidentReviewRecord> {
  await muteEvents(sql, incident.events, act);
  return review(sql, incident, mutedColumns(act));
}

async function review(
  sql: Sql,
  { incidentId, mergedIds }: WholeIncident,
  { columns, values }: ReviewColumns,
): Promise<IncidentReviewRecord> {
  if (mergedIds.length > 0) {
    const cleared = columns.map((name) => `${name} = NULL`).join(', ');
    await sql.query(`UPDATE incident_reviews SET ${cleared} WHERE incident_id IN (${marks(mergedIds)})`, mergedIds);
  }
  const [row] = await sql.query<IncidentReviewRow>(
    `INSERT INTO incident_reviews (incident_id, ${columns.join(', ')})
      VALUES ($1, ${columns.map((_, i) => `$${i + 2}`).join(', ')})
      ON CONFLICT (incident_id) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}
      RETURNING *`,
    [incidentId, ...values],
  );
  return reviewOf(row);
}

/** @param act null takes it back */
export async function giveVerdict(
  sql: Sql,
  { incidentId, mergedIds }: WholeIncident,
  { verdict, subject }: VerdictSubject,
  act: (ReviewAct & { readonly note: string | null }) | null,
): Promise<void> {
  const all = [...mergedIds, incidentId];
  await sql.query(
    `DELETE FROM incident_verdicts WHERE incident_id IN (${marks(all)})
      AND verdict = $${all.length + 1} AND subject = $${all.length + 2}`,
    [...all, verdict, subject],
  );
  if (act === null) return;
  await sql.query(
    `INSERT INTO incident_verdicts (incident_id, verdict, subject, given_at, given_by, note)
      VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (incident_id, verdict, subject)
      DO UPDATE SET given_at = excluded.given_at, given_by = excluded.given_by, note = excluded.note`,
    [incidentId, verdict, subject, act.atMs, act.by, act.note],
  );
}

/** Verdicts about these incidents, oldest first. */
export async function verdictsOf(sql: Sql, incidentIds: readonly string[]): Promise<readonly VerdictRecord[]> {
  if (incidentIds.length === 0) return [];
  const rows = await sql.query<VerdictRow>(
    `SELECT * FROM incident_verdicts WHERE incident_id IN (${marks(incidentIds)}) ORDER BY given_at, verdict, subject`,
    incidentIds,
  );
  return rows.map((row) => ({
    incidentId: row.incident_id,
    verdict: row.verdict,
    subject: row.subject,
    atMs: row.given_at,
    by: row.given_by,
    note: row.note,
  }));
}

interface VerdictRow {
  readonly incident_id: string;
  readonly verdict: IncidentVerdict;
  readonly subject: string;
  readonly given_at: number;
  readonly given_by: string;
  readonly note: string | null;
}

/** In how many incidents each of these was the origin, by the verdict of people. */
export async function countOrigins(sql: Sql, subjects: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (subjects.length === 0) return new Map();
  const rows = await sql.query<{ subject: string; incidents: number }>(
    `SELECT subject, COUNT(*) AS incidents FROM incident_verdicts
      WHERE verdict = 'origin' AND subject IN (${marks(subjects)}) GROUP BY subject`,
    subjects,
  );
  return new Map(rows.map(({ subject, incidents }) => [subject, Number(incidents)]));
}

function marks(values: readonly string[]): string {
  return values.map((_, i) => `$${i + 1}`).join(', ');
}

function reviewOf(row: IncidentReviewRow): IncidentReviewRecord {
  const { acknowledged_at: acknowledgedAt, muted_at: mutedAt } = row;
  return {
    acknowledged:
      acknowledgedAt === null ? null : { atMs: acknowledgedAt, by: row.acknowledged_by, note: row.acknowledged_note },
    muted:
      mutedAt === null ? null : { atMs: mutedAt, by: row.muted_by, untilMs: row.muted_until, reason: row.muted_reason },
  };
}
