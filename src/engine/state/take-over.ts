import { pastOfGroup } from '../group/group-past.ts';
import { GroupUnit } from '../group/group-unit.ts';
import { type BoundDetector, sameGrid } from '../unit/bound-detector.ts';
import type { DetectionUnit } from '../unit/detection-unit.ts';
import { SeriesUnit } from '../unit/series-unit.ts';

/**
 * A fresh unit begins with the values of one under other settings, and with the records that it holds. Returns false
 * where that one kept nothing, or its values lie on another grid.
 * @param offset of the record that the unit begins with
 */
export function takeOver(old: SeriesUnit | GroupUnit, unit: DetectionUnit, offset: number): boolean {
  if (!sameGrid(old.bound, unit.bound) || !continuePast(old, unit, offset)) return false;
  unit.newestOffset = old.newestOffset;
  unit.arrivedMs = old.arrivedMs;
  unit.heardMs = old.heardMs;
  unit.waiting.take(old.waiting);
  unit.silent = old.silent;
  return true;
}

/** Whether a unit of a detector would begin with values of `old`. */
export function keepsPast(old: SeriesUnit | GroupUnit, bound: BoundDetector): boolean {
  if (!sameGrid(old.bound, bound)) return false;
  return (old instanceof GroupUnit ? pastOfGroup(old, old.bound.config.settings) : old.past()) !== null;
}

/**
 * As `takeOver`, for a unit that begins with the records that wait: the values before them are lost. Where only
 * silences wait, its newest time stays unknown.
 */
export function takeOverQueue(
  { newestOffset, waiting }: Pick<DetectionUnit, 'newestOffset' | 'waiting'>,
  unit: Pick<DetectionUnit, 'newestOffset' | 'arrivedMs'>,
): void {
  unit.newestOffset = newestOffset;
  for (const { silence, timestampMs } of waiting.forBackfill ?? []) {
    if (silence === undefined && !(timestampMs <= unit.arrivedMs)) unit.arrivedMs = timestampMs;
  }
}

function continuePast(old: SeriesUnit | GroupUnit, unit: DetectionUnit, offset: number): boolean {
  if (old instanceof GroupUnit) {
    const kept = pastOfGroup(old, old.bound.config.settings);
    if (kept === null || !(unit instanceof GroupUnit)) return false;
    unit.continueFrom(kept, offset);
    unit.silence.takeOver(old.silence);
    return true;
  }
  const kept = old.past();
  if (kept === null || !(unit instanceof SeriesUnit)) return false;
  unit.continueFrom(kept);
  return true;
}
