import type { SeriesNow } from '../../../api/wire/schema/operations/history-schema.ts';
import type { ShownScores } from './shown-scores.ts';

/** Points of a chart that grows while it is displayed. */
export const POINTS_MAX = 6_000;

/**
 * The columns with newer scores behind them. A score of the newest time replaces it; older ones are in the columns
 * already and change nothing.
 */
export function withArrived(columns: ShownScores, arrived: readonly SeriesNow[]): ShownScores {
  const newest = columns.timestampMs.at(-1) ?? Number.NEGATIVE_INFINITY;
  const fresh = arrived.filter(({ timestampMs }) => timestampMs > newest);
  if (fresh.length === 0) return columns;
  const skip = Math.max(0, columns.timestampMs.length + fresh.length - POINTS_MAX);
  const grown = <T>(column: readonly T[], of: (score: SeriesNow) => T): T[] => {
    return [...column.slice(skip), ...fresh.map(of)];
  };
  return {
    timestampMs: grown(columns.timestampMs, ({ timestampMs }) => timestampMs),
    value: grown(columns.value, ({ value }) => value),
    forecast: grown(columns.forecast, ({ forecast }) => forecast),
    lo: grown(columns.lo, ({ lo }) => lo),
    hi: grown(columns.hi, ({ hi }) => hi),
    grade: grown(columns.grade, ({ grade }) => grade),
    alarms: grown(columns.alarms, ({ alarm }) => Number(alarm)),
    value_min: grown(columns.value_min, ({ value }) => value),
    value_max: grown(columns.value_max, ({ value }) => value),
    bucket_ms: columns.bucket_ms,
  };
}
