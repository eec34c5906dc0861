import type { SeriesDetector } from './series-detector.ts';

/**
 * The values that a forecast may see, from the first observed one on, NaN if missing; and the position of that one.
 */
export function contextValues({ positions, layout, rings, origin }: SeriesDetector): [number, Float64Array] {
  let start = Math.max(0, positions - layout.contextCapacity, rings.contextStart);
  while (start < positions && Number.isNaN(rings.distanceAt(start))) start++;
  return [start, Float64Array.from({ length: positions - start }, (_, i) => origin + rings.distanceAt(start + i))];
}
