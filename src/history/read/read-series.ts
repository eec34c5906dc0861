import type { ScoreState } from '../../records/score-record.ts';
import type {
  GroupRow,
  GroupSelection,
  PublishedScores,
  PublishedSelection,
  SeriesRow,
  SeriesRows,
  SeriesSelection,
  SeriesStanding,
} from '../port/history-port.ts';
import { ALL_EVENTS } from '../port/span-port.ts';
import { Conditions, type HistorySql } from '../sql/history-database.ts';
import { listParts, partTable } from '../sql/score-parts.ts';
import { IS_ALARM, STATE_PLACE, scoreOfFlags, stateAt } from '../sql/score-row.ts';
import { readEvents } from './read-events.ts';

interface NewestRow {
  readonly id: number;
  readonly name: string;
  readonly detector: string;
  readonly member_of: string | null;
  readonly time: number;
  readonly value: number;
  readonly forecast: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly score: number | null;
  readonly grade: number | null;
  readonly severity: number | null;
  readonly flags: number;
}

/** The sort key of a series without a grade. Series of one grade are in the order of their names. */
const NO_GRADE = -1;
const ENDED_GRADE = -2;

/** Series that fall behind the newest observation by more steps have ended, as a live input has stopped. */
const BEHIND_STEPS_MAX = 5.5;
/** The step of a series of which only one observation is known. */
const UNKNOWN_STEP_MS = 86_400_000;
/** A past that is replayed arrives without a pause as long. */
const ARRIVING_MS = 60_000;

/** Condition of SQL: the series has ended, though others continue. */
const hasEnded = (nowMs: number) => `(kept_at < ${nowMs - ARRIVING_MS} AND
  time + ${BEHIND_STEPS_MAX} * COALESCE(step, ${UNKNOWN_STEP_MS}) < (SELECT MAX(time) FROM history_series))`;

export async function readSeries(sql: HistorySql, selection: SeriesSelection, nowMs: number): Promise<SeriesRows> {
  const { sort, limit, after, recent } = selection;
  // Series that have ended come last.
  const worst = `CASE WHEN ${hasEnded(nowMs)} THEN ${ENDED_GRADE} ELSE COALESCE(grade, ${NO_GRADE}) END`;
  const page = matches(selection);
  if (after !== null && sort === 'name') page.add(`name > ${page.mark(after[0])}`);
  if (after !== null && sort === 'grade') {
    const grade = `CAST(${page.mark(String(after[0]))} AS FLOAT4)`;
    page.add(`(${worst} < ${grade} OR (${worst} = ${grade} AND name > ${page.mark(after[1])}))`);
  }
  const order = sort === 'name' ? 'name' : `${worst} DESC, name`;
  // Of a million series the order reads its own columns alone, which takes half of the time.
  const rows = await sql.query<NewestRow & { readonly worst: number; readonly ended: boolean }>(
    `SELECT *, ${worst} AS worst, ${hasEnded(nowMs)} AS ended FROM history_series
      WHERE id IN (SELECT id FROM history_series ${page.where} ORDER BY ${order} LIMIT ${page.mark(limit + 1)})
      ORDER BY ${order}`,
    page.values,
  );
  const isAll = after === null && rows.length <= limit;
  const total = isAll ? rows.length : await countSeries(sql, matches(selection));
  const shown = rows.slice(0, limit);
  const values = await recentValues(sql, shown, recent);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const next = last === undefined ? null : sort === 'name' ? [last.name] : [last.worst, last.name];
  const series = shown.map((row) => ({ ...seriesRow(row, values.get(row.id) ?? []), hasEnded: row.ended }));
  return { series, total, next };
}

async function countSeries(sql: HistorySql, { where, values }: Conditions): Promise<number> {
  const [{ total }] = await sql.query<{ total: number }>(
    `SELECT COUNT(*) AS total FROM history_series ${where}`,
    values,
  );
  return total;
}

function matches({ detector, group, match, search, alarm }: SeriesSelection) {
  const conditions = new Conditions().add('time IS NOT NULL').equals('detector', detector).equals('member_of', group);
  conditions.chosen('name', match);
  if (search !== null) conditions.add(`contains(lower(name), lower(${conditions.mark(search)}))`);
  return alarm ? conditions.add(IS_ALARM) : conditions;
}

function seriesRow(row: NewestRow, recent: readonly (number | null)[]): SeriesRow {
  const { name: series, detector, member_of: group, time: timestampMs, score: anomalyScore } = row;
  const { value, forecast, lo, hi, grade, severity, flags } = row;
  const place = { series, detector, group, timestampMs };
  return { ...place, value, forecast, lo, hi, anomalyScore, grade, severity, ...scoreOfFlags(flags), recent };
}

/** Newest values of some series, of the two newest parts: older values are no recent ones. */
async function recentValues(sql: HistorySql, rows: readonly NewestRow[], count: number) {
  const parts = (await listParts(sql)).filter((part) => part.rows > 0).slice(-2);
  if (count === 0 || parts.length === 0 || rows.length === 0) return new Map<number, (number | null)[]>();
  const ids = rows.map(({ id }) => id).join(', ');
  const sources = parts.map((part) => {
    return `SELECT series, time, value FROM ${partTable(part)} WHERE series IN (${ids})`;
  });
  const found = await sql.query<{ series: number; value: number | null }>(
    `SELECT series, value FROM (
      SELECT series, time, value, row_number() OVER (PARTITION BY series ORDER BY time DESC) AS newest
        FROM (${sources.join(' UNION ALL ')}) AS kept
    ) AS numbered WHERE newest <= $1 ORDER BY series, time`,
    [count],
  );
  const bySeries = Map.groupBy(found, ({ series }) => series);
  return new Map([...bySeries].map(([series, kept]) => [series, kept.map(({ value }) => value)]));
}

interface StateNow {
  readonly place: number;
  readonly ended: boolean;
  readonly series: number;
  readonly newest: number;
  readonly kept: number;
}

export async function readStanding(sql: HistorySql, nowMs: number): Promise<Omit<SeriesStanding, 'incidents'>> {
  const rows = await sql.query<StateNow>(
    `SELECT ${STATE_PLACE} AS place, ${hasEnded(nowMs)} AS ended, COUNT(*) AS series, MAX(time) AS newest,
      MAX(kept_at) AS kept FROM history_series WHERE time IS NOT NULL GROUP BY ALL`,
  );
  const states = new Map<ScoreState, number>();
  let ended = 0;
  for (const row of rows) {
    if (row.ended) ended += row.series;
    else states.set(stateAt(row.place), (states.get(stateAt(row.place)) ?? 0) + row.series);
  }
  const latest = (times: readonly number[]) => (times.length === 0 ? null : Math.max(...times));
  return {
    states,
    ended,
    newestMs: latest(rows.map(({ newest }) => newest)),
    storedAtMs: latest(rows.map(({ kept }) => kept)),
  };
}

/** Groups, worst first. */
export async function readGroups(sql: HistorySql, { detector, match, limit }: GroupSelection): Promise<GroupRow[]> {
  const conditions = new Conditions().add('member_of IS NOT NULL').equals('detector', detector);
  conditions.chosen('member_of', match);
  return sql.query(
    `SELECT member_of AS "group", detector, COUNT(*) AS members, MAX(time) AS "timestampMs", MAX(grade) AS grade,
        MAX(severity) AS severity, CAST(SUM(CASE WHEN ${IS_ALARM} THEN 1 ELSE 0 END) AS INT4) AS alarms
      FROM history_series ${conditions.where} GROUP BY member_of, detector
      ORDER BY COALESCE(MAX(grade), ${NO_GRADE}) DESC, member_of LIMIT ${conditions.mark(limit)}`,
    conditions.values,
  );
}

/** Series that an open event is about, members of groups among them. */
const OPEN_SERIES = `(
  SELECT series FROM history_events WHERE ended IS NULL AND series IS NOT NULL
  UNION SELECT member.series FROM history_members AS member
    JOIN history_events AS event ON event.id = member.event_id WHERE event.ended IS NULL)`;

export async function readPublished(sql: HistorySql, selection: PublishedSelection): Promise<PublishedScores> {
  const { series, limit } = selection;
  const page = chosen(series);
  const rows = await sql.query<NewestRow>(
    `SELECT * FROM history_series ${page.where}
      ORDER BY CASE WHEN name IN ${OPEN_SERIES} THEN 0 ELSE 1 END, name LIMIT ${page.mark(limit)}`,
    page.values,
  );
  const { events, totalOpen } = await readEvents(sql, { ...ALL_EVENTS, open: true, limit });
  const seriesTotal = rows.length < limit ? rows.length : await countSeries(sql, chosen(series));
  return { series: rows.map((row) => seriesRow(row, [])), seriesTotal, events, eventsTotal: totalOpen };
}

function chosen(series: string | null): Conditions {
  const conditions = new Conditions().add('time IS NOT NULL');
  const others = series === null ? '' : ` OR ${conditions.choice('name', series)}`;
  return conditions.add(`(name IN ${OPEN_SERIES}${others})`);
}
