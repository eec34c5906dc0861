/** A cutoff in one of several series. A forecast at it uses positions before the cutoff only. */
interface SeriesCutoff {
  readonly series: number;
  readonly cutoff: number;
}

interface GroupPoint extends SeriesCutoff {
  /** The cutoff on the common time axis. The cutoff of a series that ended before it is beyond its end. */
  readonly time: number;
  /** Index of the requested point; null for a member that serves as context only. */
  readonly requested: number | null;
}

export interface GroupSeries {
  readonly lengths: readonly number[];
  /** Position of the first value of each series on the common time axis. */
  readonly offsets: readonly number[];
  /** Context length, in steps. */
  readonly context: number;
}

/**
 * Adds to each point the contexts of the other members: all series that have observations in the `context` steps before
 * the point's time. No member is used at or after that time, even where its values are known.
 * @returns ascending in time, series in their order
 */
export function withGroupContext(
  points: readonly SeriesCutoff[],
  { lengths, offsets, context }: GroupSeries,
): GroupPoint[] {
  const requestedAt = new Map<number, Map<number, number>>();
  points.forEach(({ series, cutoff }, index) => {
    const time = offsets[series] + cutoff;
    const bySeries = requestedAt.get(time) ?? new Map<number, number>();
    requestedAt.set(time, bySeries.set(series, index));
  });
  const times = [...requestedAt].sort(([a], [b]) => a - b);
  return times.flatMap(([time, bySeries]) => {
    return lengths.flatMap((length, series): GroupPoint[] => {
      const cutoff = time - offsets[series];
      const requested = bySeries.get(series) ?? null;
      const hasContext = cutoff > 0 && cutoff - context < length;
      return requested !== null || hasContext ? [{ series, cutoff, time, requested }] : [];
    });
  });
}

/** Offsets of series whose last values have the same time. */
export function endAlignedOffsets(lengths: readonly number[]): number[] {
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  return lengths.map((length) => longest - length);
}
