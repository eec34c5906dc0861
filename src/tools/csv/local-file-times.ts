const HOUR_MS = 3_600_000;

/** The times of a series by the newest rows. */
interface SeriesTimes {
  lastMs: number;
  /** Rows are newest first. */
  isDescending: boolean;
  /** Instants that rows of the newest hour that comes twice have, by the first of both. */
  doubled: Map<number, number>;
}

/** Resolves a time that a clock shows twice when it is set back, by the rows before it; a second row has the other. */
export class LocalFileTimes {
  readonly #series = new Map<string, SeriesTimes>();

  instantOf(time: { readonly series: string; readonly timestampMs: number; readonly laterMs?: number }): number {
    const { series, timestampMs: firstMs, laterMs = firstMs } = time;
    const times = this.#series.get(series) ?? { lastMs: -Infinity, isDescending: false, doubled: new Map() };
    this.#series.set(series, times);
    const { lastMs, isDescending, doubled } = times;
    const taken = doubled.get(firstMs);
    const isLater = isDescending ? laterMs < lastMs : firstMs <= lastMs;
    times.lastMs = taken === undefined ? (isLater ? laterMs : firstMs) : firstMs + laterMs - taken;
    if (laterMs === firstMs && firstMs !== lastMs) times.isDescending = firstMs < lastMs;
    if (laterMs === firstMs) return firstMs;
    if ([...doubled.keys()].some((ms) => Math.abs(ms - firstMs) > HOUR_MS)) doubled.clear();
    if (taken === undefined) doubled.set(firstMs, times.lastMs);
    return times.lastMs;
  }
}
