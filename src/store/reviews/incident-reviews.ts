import type { Sql } from '../database/database.ts';
import { marksOf } from '../database/marks.ts';
import {
  type Acknowledgement,
  type AttentionRow,
  attentionOf,
  type EventReviewRecord,
  type ReviewColumns,
  type ReviewedEvent,
  reviewEvents,
} from './event-reviews.ts';

/** An incident, and those that were merged into it, whose reviews its own replace. */
export interface WholeIncident {
  readonly incidentId: string;
  readonly mergedIds: readonly string[];
}

/** The review of an incident by people. It holds for its events, also for those that join later. */
export type IncidentReviewRecord = Pick<EventReviewRecord, 'acknowledged' | 'muted'>;

export interface ReviewedIncident extends WholeIncident {
  readonly events: readonly ReviewedEvent[];
}

/** A verdict on a part of an incident: an event does not belong to it, or where it began. */
export const INCIDENT_VERDICTS = ['not-related', 'origin'] as const;

interface VerdictSubject {
  readonly verdict: (typeof INCIDENT_VERDICTS)[number];
  /** The event, or the series or what is common of an origin. */
  readonly subject: string;
}

export interface VerdictRecord extends VerdictSubject {
  readonly incidentId: string;
  readonly atMs: number;
  readonly by: string;
  readonly note: string | null;
}

interface IncidentReviewRow extends AttentionRow {
  readonly incident_id: string;
}

/** Reviews of these incidents; incidents without a review are absent. */
export async function incidentReviewsOf(
  sql: Sql,
  incidentIds: readonly string[],
): Promise<Map<string, IncidentReviewRecord>> {
  if (incidentIds.length === 0) return new Map();
  const rows = await sql.query<IncidentReviewRow>(
    `SELECT * FROM incident_reviews WHERE incident_id IN (${marksOf(incidentIds)})`,
    incidentIds,
  );
  return new Map(rows.map((row) => [row.incident_id, attentionOf(row)]));
}

export async function reviewIncident(
  sql: Sql,
  { incidentId, mergedIds, events }: ReviewedIncident,
  review: ReviewColumns,
): Promise<IncidentReviewRecord> {
  await reviewEvents(sql, events, review);
  const columns = Object.keys(review);
  if (mergedIds.length > 0) {
    const cleared = columns.map((name) => `${name} = NULL`).join(', ');
    await sql.query(`UPDATE incident_reviews SET ${cleared} WHERE incident_id IN (${marksOf(mergedIds)})`, mergedIds);
  }
  const [row] = await sql.query<IncidentReviewRow>(
    `INSERT INTO incident_reviews (incident_id, ${columns.join(', ')})
      VALUES ($1, ${marksOf(columns, 2)})
      ON CONFLICT (incident_id) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}
      RETURNING *`,
    [incidentId, ...Object.values(review)],
  );
  return attentionOf(row);
}

/** @param act null takes it back */
export async function giveVerdict(
  sql: Sql,
  { incidentId, mergedIds }: WholeIncident,
  { verdict, subject }: VerdictSubject,
  act: Acknowledgement | null,
): Promise<void> {
  const all = [...mergedIds, incidentId];
  await sql.query(
    `DELETE FROM incident_verdicts WHERE incident_id IN (${marksOf(all)})
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
  return sql.query(
    `SELECT incident_id AS "incidentId", verdict, subject, given_at AS "atMs", given_by AS "by", note
      FROM incident_verdicts WHERE incident_id IN (${marksOf(incidentIds)}) ORDER BY given_at, verdict, subject`,
    incidentIds,
  );
}

/** In how many incidents each of these was the origin, by the verdict of people. */
export async function countOrigins(sql: Sql, subjects: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (subjects.length === 0) return new Map();
  const rows = await sql.query<{ subject: string; incidents: number }>(
    `SELECT subject, COUNT(*) AS incidents FROM incident_verdicts
      WHERE verdict = 'origin' AND subject IN (${marksOf(subjects)}) GROUP BY subject`,
    subjects,
  );
  return new Map(rows.map(({ subject, incidents }) => [subject, Number(incidents)]));
}
