import type { ShownScores, TimeRange } from './shown-scores.ts';

/** Stretches of time that a series is compared with. */
export const COMPARED_WITH: Readonly<Record<string, { readonly name: string; readonly ms: number }>> = {
  day: { name: 'the day before', ms: 86_400_000 },
  week: { name: 'the week before', ms: 7 * 86_400_000 },
};

export function before({ from, to }: TimeRange, ms: number): TimeRange {
  return { from: from - ms, to: to - ms };
}

/**
 * The earlier values at the times of `columns`, `ms` later than they were: for each time the newest earlier value that
 * is at most one step older; null if there is none.
 */
export function comparedValues(columns: ShownScores, earlier: ShownScores, ms: number): (number | null)[] {
  const { timestampMs: at } = columns;
  const step = columns.bucket_ms ?? Math.max(0, ...at.slice(1, 3).map((time, i) => time - at[i]));
  const tolerance = Math.max(step, earlier.bucket_ms ?? 0);
  let next = 0;
  return at.map((time) => {
    while (next < earlier.timestampMs.length && earlier.timestampMs[next] + ms <= time) next++;
    const found = next - 1;
    return found >= 0 && time - (earlier.timestampMs[found] + ms) < tolerance ? earlier.value[found] : null;
  });
}
