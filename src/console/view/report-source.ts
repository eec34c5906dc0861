import { bucketed } from './bucketed-scores.ts';
import { type ConsoleSource, SourceFailure } from './console-source.ts';
import { addressedSeries } from './event-words.ts';
import type { SeenEvent, SeenSeries, ShownScores } from './seen.ts';

/** Scores of a series in a report. */
export interface ReportSeries {
  readonly id: string;
  readonly detector: string;
  readonly group: string | null;
  readonly state: string;
  /** Each score; extremes are the values themselves. */
  readonly scores: Omit<ShownScores, 'min' | 'max' | 'downsampled'>;
}

/** All that a saved report shows. */
export interface ReportData {
  readonly title: string;
  readonly series: readonly ReportSeries[];
  readonly events: readonly SeenEvent[];
}

const PAGE_ROWS = 100;

/** A report as a source of pages: the same pages, over the data inside it. Nobody acts on a report. */
export function reportSource({ series: saved, events }: ReportData): ConsoleSource {
  const series = saved.map((one) => ({ ...one, scores: shownScores(one.scores) }));
  const byId = new Map(series.map((one) => [one.id, one]));
  const end = Math.max(0, ...series.map(({ scores }) => scores.at.at(-1) ?? 0));
  const sorted = events.toSorted(
    (a, b) => Number(a.endedAt !== null) - Number(b.endedAt !== null) || b.startedAt - a.startedAt,
  );
  const open = events.filter(({ endedAt }) => endedAt === null).length;
  const refuse = () => Promise.reject(new SourceFailure(0, 'This is a saved report: nothing in it changes.'));
  return {
    kind: 'report',
    nowMs: () => end,
    async events(query) {
      const found = sorted.filter(
        (event) =>
          (query.open === undefined || (event.endedAt === null) === query.open) &&
          (!query.series || addressedSeries(event).includes(query.series)) &&
          (!query.detector || event.detector === query.detector) &&
          (!query.kind || event.kind === query.kind) &&
          (query.from === undefined || (event.endedAt ?? end) >= query.from),
      );
      return { ...pageOf(found, query), open };
    },
    event: async (id) => events.find((event) => event.id === id) ?? null,
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
      return { ...pageOf(found, query), total: found.length };
    },
    async scores(id, { from, to, points }) {
      const found = byId.get(id);
      if (found === undefined) throw new SourceFailure(404, `The report has no series ${id}.`);
      const { detector, group, scores } = found;
      return { detector, group, columns: bucketed(scores, { from, to, points }) };
    },
    watch: () => () => {},
    ...{ acknowledge: refuse, mute: refuse, label: refuse },
  };
}

function pageOf<T>(rows: readonly T[], query: { readonly limit?: number; readonly cursor?: string }) {
  const from = Number(query.cursor ?? 0);
  const end = from + (query.limit ?? PAGE_ROWS);
  return { rows: rows.slice(from, end), next: end < rows.length ? String(end) : null };
}

function shownScores(scores: ReportSeries['scores']): ShownScores {
  return { ...scores, min: scores.value, max: scores.value, downsampled: false };
}

/** The worst grade in place of the newest: of a past, it says what to look at. */
function newestOf(
  { id, detector, group, state, scores }: ReportSeries & { readonly scores: ShownScores },
  recent: number,
): SeenSeries {
  const grades = scores.grade.filter((grade) => grade !== null);
  const alarm = scores.alarm.some(Boolean);
  const shown = bucketed(scores, { from: undefined, to: undefined, points: Math.max(1, recent) });
  return {
    ...{ id, detector, group, state, alarm },
    at: scores.at.at(-1) ?? 0,
    value: scores.value.at(-1) ?? null,
    grade: grades.length === 0 ? null : grades.reduce((worst, grade) => Math.max(worst, grade), 0),
    recent: recent === 0 ? [] : shown.value,
  };
}
