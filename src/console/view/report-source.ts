import type { ReportData, ReportSeries } from '../../sidecar/wire/schema/backtest-schema.ts';
import { bucketed } from './bucketed-scores.ts';
import { type ConsoleSource, SourceFailure } from './console-source.ts';
import { addressedSeries } from './event-words.ts';
import type { ShownScores, ShownSeries } from './shown-scores.ts';

const PAGE_ROWS = 100;

/** A report as a source of pages: the same pages, over the data inside it. Nobody acts on a report. */
export function reportSource({ series: saved, events }: ReportData): ConsoleSource {
  const series = saved.map((one) => ({ ...one, scores: shownScores(one.scores) }));
  const byId = new Map(series.map((one) => [one.id, one]));
  const end = Math.max(0, ...series.map(({ scores }) => scores.timestamp.at(-1) ?? 0));
  const sorted = events.toSorted(
    (a, b) => Number(a.ended_at !== null) - Number(b.ended_at !== null) || b.started_at - a.started_at,
  );
  const open = events.filter(({ ended_at }) => ended_at === null).length;
  const refuse = () => Promise.reject(new SourceFailure(0, 'This is a saved report: nothing in it changes.'));
  return {
    kind: 'report',
    nowMs: () => end,
    async events(query) {
      const found = sorted.filter(
        (event) =>
          (query.open === undefined || (event.ended_at === null) === query.open) &&
          (!query.series || addressedSeries(event).includes(query.series)) &&
          (!query.detector || event.detector === query.detector) &&
          (!query.kind || event.kind === query.kind) &&
          (query.from === undefined || (event.ended_at ?? end) >= query.from),
      );
      const { rows, next } = pageOf(found, query);
      return { events: rows, total_open: open, next_cursor: next };
    },
    event: async (id) => events.find((event) => event.event_id === id) ?? null,
    async seriesList(query) {
      const text = query.search?.toLowerCase() ?? '';
      const found = series
        .filter(
          ({ id, group, detector }) =>
            id.toLowerCase().includes(text) &&
            (!query.group || group === query.group) &&
            (!query.detector || detector === query.detector),
        )
        .map((one) => newestOf(one, query.recent ?? 0));
      found.sort((a, b) => (query.sort === 'name' ? (a.id < b.id ? -1 : 1) : (b.grade ?? -1) - (a.grade ?? -1)));
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
    acknowledge: refuse,
    mute: refuse,
    label: refuse,
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

/** The worst grade in place of the newest: of a past, it is what to look at. */
function newestOf(
  { id, detector, group, state, scores }: Omit<ReportSeries, 'scores'> & { readonly scores: ShownScores },
  recent: number,
): ShownSeries {
  const grades = scores.grade.filter((grade) => grade !== null);
  const alarm = scores.alarms.some((count) => count > 0);
  const shown = bucketed(scores, { from: undefined, to: undefined, points: Math.max(1, recent) });
  return {
    id,
    detector,
    group,
    state,
    alarm,
    timestamp: scores.timestamp.at(-1) ?? 0,
    value: scores.value.at(-1) ?? null,
    grade: grades.length === 0 ? null : grades.reduce((worst, grade) => Math.max(worst, grade), 0),
    recent: recent === 0 ? [] : shown.value,
  };
}
