/** A place in one of several series from which it is forecast; only what lies before the cutoff is seen. */
export interface SeriesCutoff {
  /** Index of the series. */
  readonly series: number;
  readonly cutoff: number;
}

/** A place of a group: what is forecast there, or what the others may learn from. */
export interface GroupPoint extends SeriesCutoff {
  /** The cutoff on the common axis of time. A series that ended before it has a cutoff beyond its end. */
  readonly time: number;
  /** Which of the points that were asked for it is; null for company alone. */
  readonly asked: number | null;
}

/**
 * Every point with its company: all series that have begun and have something to show in the `context` steps before its time. Nothing at or
 * after that time is seen of any of them, even where it is known.
 * @param offsets where the first value of each series lies on the common axis of time
 * @returns times ascending, series in their order
 */
export function withGroupContext(
  points: readonly SeriesCutoff[],
  lengths: readonly number[],
  offsets: readonly number[],
  context: number,
): GroupPoint[] {
  const askedAt = new Map<number, Map<number, number>>();
  points.forEach(({ series, cutoff }, index) => {
    const time = offsets[series] + cutoff;
    const there = askedAt.get(time) ?? new Map<number, number>();
    askedAt.set(time, there.set(series, index));
  });
  const times = [...askedAt.keys()].sort((a, b) => a - b);
  return times.flatMap((time) => {
    const there = askedAt.get(time)!;
    return lengths.flatMap((length, series): GroupPoint[] => {
      const cutoff = time - offsets[series];
      const asked = there.get(series) ?? null;
      const shows = cutoff > 0 && cutoff - context < length;
      return asked !== null || shows ? [{ series, cutoff, time, asked }] : [];
    });
  });
}

/** Offsets of series that end together. */
export function endAlignedOffsets(lengths: readonly number[]): number[] {
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  return lengths.map((length) => longest - length);
}
