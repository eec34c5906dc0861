import { type LabelsBeside, partsOf } from '../membership/series-parts.ts';
import { type SeriesMove, strengthOf } from './rank-origins.ts';

/** Rows before an incident that are the quiet time of a series. */
export const QUIET_ROWS = 2_000;
/** A series hardly varied before where all but 1 in 100 of these rows are below this grade. */
export const FLAT_GRADE = 0.5 / 14.5;
const FLAT_QUANTILE = 0.99;

/** What the scores of a series show of an incident, and of the time before it. */
export interface ScoredRange {
  readonly series: string;
  /** The largest of the incident. */
  readonly grade: number | null;
  /** The largest of its quiet time; null where it has none. */
  readonly pastGrade: number | null;
  /** Rows of the quiet time, and those of them below `FLAT_GRADE`. */
  readonly pastRows: number;
  readonly flatRows: number;
  readonly alarmAtMs: number | null;
}

/** What the event of a series says beside its scores. */
export interface ToldMove extends Pick<LabelsBeside, 'seriesLabels'> {
  readonly seen: string | null;
}

/** @param told null where it has no event */
export function moveOf(range: ScoredRange, told: ToldMove | null): SeriesMove {
  const { series, grade, pastGrade, pastRows, flatRows, alarmAtMs } = range;
  return {
    series,
    parts: partsOf(series, { seriesLabels: told?.seriesLabels ?? {} }),
    strength: strengthOf(grade) ?? 0,
    quiet: strengthOf(pastGrade),
    isFlat: pastRows > 0 && flatRows > Math.floor(FLAT_QUANTILE * pastRows),
    startedAtMs: alarmAtMs,
    seen: told?.seen ?? null,
    led: null,
  };
}
