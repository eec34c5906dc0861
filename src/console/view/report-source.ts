import type { ReportData, ReportSeries } from '../../api/wire/schema/operations/backtest-schema.ts';
import { seriesPattern } from '../../records/series/series-pattern.ts';
import { type ConsoleSource, SourceFailure } from './console-source.ts';
import { bucketed } from './scores/bucketed-scores.ts';
import type { ShownScores, ShownSeries } from './scores/shown-scores.ts';
import { addressedSeries } from './words/event-words.ts';

const PAGE_ROWS = 100;

/** A report as a source of pages: the same pages, over the data inside it. */
export function reportSource({ series: saved, events, units = {} }: ReportData): ConsoleSource {
  const series = saved.map((one) => ({ ...one, scores: shownScores(one.scores) }));
  const byId = new Map(series.map((one) => [one.series, one]));
  const end = Math.max(0, ...series.map(({ scores }) => scores.timestampMs.at(-1) ?? 0));
  const sorted = events.toSorted(
    (a, b) => Number(a.endedAtMs !== null) - Number(b.endedAtMs !== null) || b.startedAtMs - a.startedAtMs,
  );
  const open = events.filter(({ endedAtMs }) => endedAtMs === null).length;
  return {
    kind: 'report',
    nowMs: () => end,
    freshness: async () => null,
    detectorWords: async () => ({ units, zones: [] }),
    async events(query) {
      const pattern = query.match ? seriesPattern([query.match]) : null;
      const found = sorted.filter(
        (event) =>
          (query.open === undefined || (event.endedAtMs === null) === query.open) &&
          (!query.series || addressedSeries(event).includes(query.series)) &&
          (pattern === null || addressedSeries(event).some((id) => pattern.test(id))) &&
          (!query.detector || event.detector === query.detector) &&
          (!query.kind || event.kind === query.kind) &&
          (query.from === undefined || (event.endedAtMs ?? end) >= query.from) &&
          (query.to === undefined || event.startedAtMs < query.to),
      );
      const { rows, next } = pageOf(found, query);
      return { events: rows, total_open: open, next_cursor: next };
    },
    event: async (id) => events.find((event) => event.eventId === id) ?? null,
    async seriesList(query) {
      const text = query.search?.toLowerCase() ?? '';
      const pattern = query.match ? seriesPattern([query.match]) : null;
      const found = series
        .filter(
          ({ series: id, group, detector }) =>
            id.toLowerCase().includes(text) &&
            (pattern?.test(id) ?? true) &&
            (!query.group || group === query.group) &&
            (!query.detector || detector === query.detector),
        )
        .map((one) => newestOf(one, query.recent ?? 0));
      found.sort((a, b) =>
        query.sort === 'name' ? (a.series < b.series ? -1 : 1) : (b.grade ?? -1) - (a.grade ?? -1),
      );
      const { rows, next } = pageOf(found, query);
      return { series: rows, total: found.length, next_cursor: next };
    },
    async scores(id, { from, to, points }) {
      const found = byId.get(id);
      if (found === undefined) throw new SourceFailure(404, `The report has no series ${id}.`);
      const { detector, group, scores } = found;
      return { detector, group, ...bucketed(scores, { from, to, points }) };
    },
    watch: () => () => {},
    incidents: async () => ({ incidents: [], total_open: 0, next_cursor: null }),
    incident: () => Promise.reject(new SourceFailure(404, 'A saved report has no incidents.')),
    changes: async () => [],
    sent: async () => ({ sent: [], next_cursor: null }),
  };
}

function pageOf<T>(rows: readonly T[], query: { readonly limit?: number; readonly cursor?: string }) {
  const from = Number(query.cursor ?? 0);
  const end = from + (query.limit ?? PAGE_ROWS);
  return { rows: rows.slice(from, end), next: end < rows.length ? String(end) : null };
}

function shownScores(scores: ReportSeries['scores']): ShownScores {
  return { ...scores, value_min: scores.value, value_max: scores.value, bucket_ms: null };
}

/** Least and greatest value of each bucket: a mean, or every n-th value, would hide short events. */
function extremes({ value_min: min, value_max: max }: ShownScores): (number | null)[] {
  return min.flatMap((low, i) => (low === max[i] ? [low] : [low, max[i]]));
}

/** The worst grade instead of the newest: of a past, it is what to look at. */
function newestOf(
  { series, detector, group, state, scores }: Omit<ReportSeries, 'scores'> & { readonly scores: ShownScores },
  recent: number,
): ShownSeries {
  const grades = scores.grade.filter((grade) => grade !== null);
  const alarm = scores.alarms.some((count) => count > 0);
  const shown = bucketed(scores, { from: undefined, to: undefined, points: Math.max(1, recent / 2) });
  return {
    series,
    detector,
    group,
    state,
    alarm,
    timestampMs: scores.timestampMs.at(-1) ?? 0,
    value: scores.value.at(-1) ?? null,
    grade: grades.length === 0 ? null : grades.reduce((worst, grade) => Math.max(worst, grade), 0),
    recent: recent === 0 ? [] : extremes(shown),
  };
}
