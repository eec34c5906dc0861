import type { SeriesDetector } from '../../detector/series-detector.ts';

/** Separates the parts of a member's key; ids hold none. */
export const KEY_SEPARATOR = '\0';

/**
 * A series in the changelog. Its closed windows are written under its key; `era` is the input offset it (last) began at and tells
 * them from those of an earlier life.
 */
export interface Track {
  /** The series' id; for a member of a group: detector, group and series, separated. */
  readonly key: string;
  readonly era: number;
  readonly detector: SeriesDetector;
}

export function groupKey(detector: string, group: string): string {
  return `${detector}${KEY_SEPARATOR}${group}`;
}

export function memberKey(groupsKey: string, series: string): string {
  return `${groupsKey}${KEY_SEPARATOR}${series}`;
}
