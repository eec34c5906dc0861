import type { HistoryReader } from '../../history/port/history-port.ts';
import type { Sql } from '../../store/database/database.ts';
import {
  type IncidentReviewRecord,
  incidentReviewsOf,
  type VerdictRecord,
  verdictsOf,
} from '../../store/reviews/incident-reviews.ts';

export interface ReviewSources {
  readonly sql: Sql;
  readonly reader: Pick<HistoryReader, 'mergedInto'>;
}

/** Reviews of an incident, and of those that were merged into it. */
export interface PassedReviews {
  readonly review: IncidentReviewRecord | null;
  readonly verdicts: readonly VerdictRecord[];
}

/** Reviews of a merged incident move to the incident it was merged into. */
export async function passedReviews(
  { sql, reader }: ReviewSources,
  incidentIds: readonly string[],
): Promise<ReadonlyMap<string, PassedReviews>> {
  const parts = await reader.mergedInto(incidentIds);
  const allOf = (id: string) => [id, ...(parts.get(id) ?? [])];
  const ids = incidentIds.flatMap(allOf);
  const [reviews, verdicts] = [await incidentReviewsOf(sql, ids), await verdictsOf(sql, ids)];
  const byIncident = Map.groupBy(verdicts, ({ incidentId }) => incidentId);
  return new Map(
    incidentIds.map((id) => {
      const passed = {
        review: joined(allOf(id).flatMap((each) => reviews.get(each) ?? [])),
        verdicts: allOf(id)
          .flatMap((each) => byIncident.get(each) ?? [])
          .toSorted((a, b) => a.atMs - b.atMs),
      };
      return [id, passed];
    }),
  );
}

/** The newest act of each kind. */
function joined(reviews: readonly IncidentReviewRecord[]): IncidentReviewRecord | null {
  const newest = <T extends { readonly atMs: number }>(acts: readonly (T | null)[]): T | null =>
    acts.reduce((one, other) => (other !== null && (one === null || other.atMs > one.atMs) ? other : one), null);
  if (reviews.length === 0) return null;
  return {
    acknowledged: newest(reviews.map(({ acknowledged }) => acknowledged)),
    muted: newest(reviews.map(({ muted }) => muted)),
  };
}
