import type { SeriesDetector } from '../detection/series/series-detector.ts';

/** Separates the parts of a group's or member's key. Ids never contain it. */
export const KEY_SEPARATOR = '\0';

/** A series with state in the changelog. Its closed windows are written under its key. */
export interface ChangelogSeries {
  /** The series' id. For a member of a group: detector, group and series, separated. */
  readonly key: string;
  /**
   * Input offset of the observation at position 0. It changes when the series starts over, and distinguishes old
   * closed windows from new ones.
   */
  readonly startOffset: number;
  readonly detector: SeriesDetector;
}

export function groupKey(detector: string, group: string): string {
  return `${detector}${KEY_SEPARATOR}${group}`;
}

export function memberKey(ownGroupKey: string, series: string): string {
  return `${ownGroupKey}${KEY_SEPARATOR}${series}`;
}
