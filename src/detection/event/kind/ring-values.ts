import type { SeriesRings } from '../../memory/series-rings.ts';
import { stuckFrom } from './event-kind.ts';

/** The kept values up to a row, oldest first, as distances from the origin, and the position of the oldest. */
export function ringValues(rings: SeriesRings, position: number): { values: Float32Array; oldest: number } {
  const oldest = Math.max(0, rings.contextStart, position - rings.layout.contextCapacity + 1);
  const values = new Float32Array(position + 1 - oldest);
  rings.copyDistances(values, oldest, position + 1);
  return { values, oldest };
}

/** Rows before an alarm at which values became stuck, if they are, or were until then; 0 otherwise. */
export function stuckRows(rings: SeriesRings, position: number): number {
  const { values, oldest } = ringValues(rings, position);
  const start = position - oldest;
  return Math.max(0, start - (stuckFrom({ values, start, begun: 0 }) ?? start));
}
