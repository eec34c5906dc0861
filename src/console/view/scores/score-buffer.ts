import type { SeriesNow } from '../../../api/wire/schema/operations/history-schema.ts';
import { type ShownScores, withColumns } from './shown-scores.ts';

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
  const cells = fresh.map((score) => ({
    ...score,
    alarms: Number(score.alarm),
    value_min: score.value,
    value_max: score.value,
  }));
  return withColumns(columns, (column, name) => [...column.slice(skip), ...cells.map((cell) => cell[name])]);
}
