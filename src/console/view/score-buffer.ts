import type { ArrivedScore, ShownScores } from './seen.ts';

/** Points of a chart that grows while it is looked at. */
export const POINTS_MAX = 6_000;

/**
 * The columns with newer scores behind them. A score of the newest time replaces it; older ones are in the columns
 * already and change nothing.
 */
export function withArrived(columns: ShownScores, arrived: readonly ArrivedScore[]): ShownScores {
  const newest = columns.at.at(-1) ?? Number.NEGATIVE_INFINITY;
  const fresh = arrived.filter(({ at }) => at > newest);
  if (fresh.length === 0) return columns;
  const skip = Math.max(0, columns.at.length + fresh.length - POINTS_MAX);
  const grown = <T>(column: readonly T[], of: (score: ArrivedScore) => T): T[] => {
    return [...column.slice(skip), ...fresh.map(of)];
  };
  return {
    at: grown(columns.at, ({ at }) => at),
    value: grown(columns.value, ({ value }) => value),
    forecast: grown(columns.forecast, ({ forecast }) => forecast),
    lo: grown(columns.lo, ({ lo }) => lo),
    hi: grown(columns.hi, ({ hi }) => hi),
    grade: grown(columns.grade, ({ grade }) => grade),
    alarm: grown(columns.alarm, ({ alarm }) => alarm),
    min: grown(columns.min, ({ value }) => value),
    max: grown(columns.max, ({ value }) => value),
    downsampled: columns.downsampled,
  };
}
