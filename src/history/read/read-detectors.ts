import type { DetectorRow } from '../port/history-port.ts';
import type { HistorySql } from '../sql/history-database.ts';

/** Detectors of which something is kept, by their names. */
export async function readDetectors(sql: HistorySql): Promise<DetectorRow[]> {
  const series = await sql.query<{ detector: string; series: number; groups: number }>(
    `SELECT detector, COUNT(*) AS series, COUNT(DISTINCT member_of) AS groups FROM history_series
      WHERE time IS NOT NULL GROUP BY detector`,
  );
  const hours = await sql.query<{ detector: string; observations: number; since: number }>(
    `SELECT detector, CAST(SUM(observations) AS INT8) AS observations, MIN(hour) AS since
      FROM history_hours GROUP BY detector`,
  );
  const events = await sql.query<{ detector: string; counted: number; open: number }>(
    `SELECT detector, COUNT(*) AS counted, CAST(SUM(CASE WHEN ended IS NULL THEN 1 ELSE 0 END) AS INT4) AS open
      FROM history_events GROUP BY detector`,
  );
  const judged = await readJudged(sql);
  const names = new Set([...series, ...hours, ...events].map(({ detector }) => detector));
  return [...names].sort().map((detector) => {
    const isOf = (row: { readonly detector: string }) => row.detector === detector;
    const [of, kept, raised] = [series.find(isOf), hours.find(isOf), events.find(isOf)];
    const { ms = 0, events: eventsJudged = 0 } = judged.find(isOf) ?? {};
    return {
      detector,
      series: of?.series ?? 0,
      groups: of?.groups ?? 0,
      observations: kept?.observations ?? 0,
      judgedMs: ms,
      eventsJudged,
      sinceMs: kept?.since ?? null,
      eventsOpen: raised?.open ?? 0,
      events: raised?.counted ?? 0,
    };
  });
}

interface JudgedRow {
  readonly detector: string;
  readonly ms: number;
  readonly events: number;
}

/**
 * How long the series and groups of each detector were judged, added up, and their events of that time. Nothing counts
 * before the oldest score that is kept: neither do its events, which are dropped with it. Silence has no target rate.
 */
async function readJudged(sql: HistorySql): Promise<JudgedRow[]> {
  return sql.query<JudgedRow>(
    `WITH kept AS (SELECT MIN(from_time) AS oldest FROM history_parts),
      units AS (
        SELECT detector, GREATEST(MIN(judged_from), MIN(oldest)) AS since, MAX(judged_to) AS until
          FROM history_series, kept WHERE judged_from IS NOT NULL AND oldest IS NOT NULL
          GROUP BY detector, member_of, CASE WHEN member_of IS NULL THEN name END),
      judged AS (
        SELECT detector, MIN(since) AS since, CAST(SUM(until - since) AS INT8) AS ms
          FROM units WHERE until > since GROUP BY detector)
      SELECT judged.detector, MIN(judged.ms) AS ms, COUNT(event.id) AS events FROM judged
        LEFT JOIN history_events AS event ON event.detector = judged.detector
          AND event.started >= judged.since AND event.kind <> 'silence'
        GROUP BY judged.detector`,
  );
}
