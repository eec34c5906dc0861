import type { PublishedScores, PublishedSelection } from '../port/history-port.ts';
import { Conditions } from '../sql/conditions.ts';
import type { HistorySql } from '../sql/history-database.ts';
import { readEvents } from './read-events.ts';
import { type NewestRow, seriesRow } from './read-series.ts';

/** Series that an open event is about, members of groups among them. */
const OPEN_SERIES = `(
  SELECT series FROM history_events WHERE ended IS NULL AND series IS NOT NULL
  UNION SELECT member.series FROM history_members AS member
    JOIN history_events AS event ON event.id = member.event_id WHERE event.ended IS NULL)`;

const EVERY_OPEN_EVENT = {
  open: true,
  series: null,
  group: null,
  match: null,
  detector: null,
  kind: null,
  incident: null,
  fromMs: null,
  toMs: null,
  after: null,
} as const;

export async function readPublished(sql: HistorySql, selection: PublishedSelection): Promise<PublishedScores> {
  const { series, limit } = selection;
  const { where, values } = chosen(series);
  const [{ total }] = await sql.query<{ total: number }>(
    `SELECT COUNT(*) AS total FROM history_series ${where}`,
    values,
  );
  const page = chosen(series);
  const rows = await sql.query<NewestRow>(
    `SELECT * FROM history_series ${page.where}
      ORDER BY CASE WHEN name IN ${OPEN_SERIES} THEN 0 ELSE 1 END, name LIMIT ${page.mark(limit)}`,
    page.values,
  );
  const { events, totalOpen } = await readEvents(sql, { ...EVERY_OPEN_EVENT, limit });
  return { series: rows.map((row) => seriesRow(row, [])), seriesTotal: total, events, eventsTotal: totalOpen };
}

function chosen(series: string | null): Conditions {
  const conditions = new Conditions().add('time IS NOT NULL');
  const others = series === null ? '' : ` OR ${conditions.choice('name', series)}`;
  return conditions.add(`(name IN ${OPEN_SERIES}${others})`);
}
