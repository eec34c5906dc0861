import { type ShownScores, withColumns } from './shown-scores.ts';

/** Times further apart than so many steps have a gap between them. */
const STEPS_MAX = 1.9;

/**
 * The columns with an empty row in each gap, so that what is drawn breaks there. The step is the width of a bucket, or
 * the median distance of two times. Columns without a gap are returned as they are.
 */
export function withGaps(columns: ShownScores): ShownScores {
  const { timestampMs: at, bucket_ms } = columns;
  const step = bucket_ms ?? medianStep(at);
  const before = step === null ? [] : at.flatMap((time, i) => (time - at[i - 1] > STEPS_MAX * step ? [i] : []));
  if (step === null || before.length === 0) return columns;
  const broken = <T>(column: readonly T[], empty: (i: number) => T): T[] => {
    const rows: T[] = [];
    let next = 0;
    for (const [i, row] of column.entries()) {
      if (i === before[next]) {
        rows.push(empty(i));
        next++;
      }
      rows.push(row);
    }
    return rows;
  };
  return withColumns(columns, (column, name) => {
    if (name === 'timestampMs') return broken(column, (i) => at[i - 1] + step);
    return broken(column, () => (name === 'alarms' ? 0 : null));
  });
}

/** null if there are fewer than two times. */
function medianStep(at: readonly number[]): number | null {
  const steps = at.slice(1).map((time, i) => time - at[i]);
  return steps.length === 0 ? null : steps.sort((a, b) => a - b)[Math.floor(steps.length / 2)];
}
