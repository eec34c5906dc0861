import { type LabelsBeside, partsOf } from '../membership/series-parts.ts';
import { FLAT_GRADE, type SeriesMove } from './rank-origins.ts';

/** Rows before an incident that are the past of a series. */
export const PAST_ROWS = 2_000;
/** The usual grade of a series is the one that this share of its past does not exceed. */
export const USUAL_GRADE_QUANTILE = 0.99;

/** What the scores of a series show of an incident, and of the time before it. */
export interface ScoredRange {
  readonly series: string;
  /** The largest of the incident. */
  readonly grade: number | null;
  /** The usual one of its past; null where it has none. */
  readonly usualGrade: number | null;
  readonly alarmAtMs: number | null;
}

/** What the event of a series says beside its scores. */
export interface ToldMove extends Pick<LabelsBeside, 'seriesLabels'> {
  readonly seen: string | null;
}

/** @param told null where it has no event */
export function moveOf({ series, grade, usualGrade, alarmAtMs }: ScoredRange, told: ToldMove | null): SeriesMove {
  return {
    series,
    parts: partsOf(series, { seriesLabels: told?.seriesLabels ?? {} }),
    grade: grade ?? 0,
    usual: usualGrade,
    isFlat: usualGrade !== null && usualGrade < FLAT_GRADE,
    startedAtMs: alarmAtMs,
    seen: told?.seen ?? null,
    led: null,
  };
}
