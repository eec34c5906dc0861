import type { ForecastGrid } from '../detection/calibration/cutoff-grid.ts';
import type { SeriesDetector } from '../detection/series/series-detector.ts';
import type { StateReader, StateWriter } from './state-bytes.ts';

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

/** Writes the phase of windows only if there is one. A negative number precedes it. */
export function writePhasedPositions(
  writer: StateWriter,
  positions: number,
  { phase }: Pick<ForecastGrid, 'phase'>,
): void {
  writer.number(phase === 0 ? positions : -1 - positions);
  if (phase !== 0) writer.number(phase);
}

export function readPhasedPositions(reader: StateReader): { readonly positions: number; readonly phase: number } {
  const positions = reader.number();
  return positions < 0 ? { positions: -1 - positions, phase: reader.number() } : { positions, phase: 0 };
}
