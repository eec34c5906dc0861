/** The times of a series by the newest rows. */
interface SeriesTimes {
  readonly lastMs: number;
  /** Rows are newest first. */
  readonly isDescending: boolean;
}

/** Resolves a time that a clock shows twice when it is set back, by the rows before it. */
export class LocalFileTimes {
  readonly #series = new Map<string, SeriesTimes>();

  instantOf(time: { readonly series: string; readonly timestampMs: number; readonly laterMs?: number }): number {
    const { series, timestampMs: firstMs, laterMs = firstMs } = time;
    const before = this.#series.get(series);
    const isLater = before !== undefined && (before.isDescending ? laterMs < before.lastMs : firstMs <= before.lastMs);
    const instantMs = isLater ? laterMs : firstMs;
    const isClear = before !== undefined && laterMs === firstMs && instantMs !== before.lastMs;
    const isDescending = isClear ? instantMs < before.lastMs : (before?.isDescending ?? false);
    this.#series.set(series, { lastMs: instantMs, isDescending });
    return instantMs;
  }
}
