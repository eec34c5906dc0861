import { type CountedSeries, PartCounts } from './part-counts.ts';

/** The onsets from `first` to `last` that have a window in common with the one at `at`. */
export interface OnsetWindow {
  readonly list: readonly (CountedSeries & { readonly atMs: number })[];
  readonly first: number;
  readonly at: number;
  readonly last: number;
  readonly windowMs: number;
  /** So many onsets must be in it, of so many parts. */
  readonly needed: number;
  readonly partsMin: number;
  readonly splits: readonly string[];
}

/**
 * What the windows that hold an onset reach together, of those with unusually many; null without one.
 * @param left an onset that does not count
 */
export function stretchOf(around: OnsetWindow, left: number | null): readonly [from: number, to: number] | null {
  const from = edgeOf(around, 1, left);
  return from === null ? null : [from, edgeOf(around, -1, left)!];
}

/** The outermost onset on one side whose window, towards the other one, has unusually many. */
function edgeOf(
  { list, first, at, last, windowMs, needed, partsMin, splits }: OnsetWindow,
  step: 1 | -1,
  left: number | null,
): number | null {
  const [outer, far] = step === 1 ? [first, last] : [last, first];
  const parts = new PartCounts(splits);
  let [reach, counted] = [at, outer - step];
  for (let edge = outer; edge !== at + step; edge += step) {
    while (reach !== far && Math.abs(list[reach + step].atMs - list[edge].atMs) <= windowMs) reach += step;
    if (edge !== left && Math.abs(reach - edge) + 1 - (left === null ? 0 : 1) >= needed) {
      while (counted !== reach && parts.fewest < partsMin) {
        counted += step;
        if (counted !== left) parts.add(list[counted]);
      }
      if (parts.fewest >= partsMin) return edge;
    }
    if ((counted - edge) * step < 0) counted = edge;
    else if (edge !== left) parts.remove(list[edge]);
  }
  return null;
}
