import { continuedDeparted, depart } from '../group/departed-members.ts';
import { GroupUnit } from '../group/group-unit.ts';
import { type BoundDetector, sameGrid } from '../unit/bound-detector.ts';
import type { DetectionUnit } from '../unit/detection-unit.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import { SeriesUnit } from '../unit/series-unit.ts';

/**
 * A fresh series begins with the values of one under other settings, and with the records that it holds. Returns false
 * if that one kept nothing, its values lie on another grid, or it is a group: groups warm up again.
 */
export function takeOver(old: SeriesUnit | GroupUnit, unit: DetectionUnit): boolean {
  if (!keepsPast(old, unit.bound) || old instanceof GroupUnit || !(unit instanceof SeriesUnit)) return false;
  unit.continueFrom(old.past()!);
  unit.newestOffset = old.newestOffset;
  unit.arrivedMs = old.arrivedMs;
  unit.heardMs = old.heardMs;
  unit.waiting.take(old.waiting);
  unit.silent = old.silent;
  return true;
}

/** Whether a unit of a detector would begin with values of `old`. */
export function keepsPast(old: SeriesUnit | GroupUnit, bound: BoundDetector): boolean {
  return old instanceof SeriesUnit && sameGrid(old.bound, bound) && old.past() !== null;
}

/** A group starts over, and what its members have learned of hours and weekdays goes on as they join. */
export function keepProfiles(old: SeriesUnit | GroupUnit, unit: DetectionUnit): void {
  if (!(old instanceof GroupUnit && unit instanceof GroupUnit && sameGrid(old.bound, unit.bound))) return;
  for (const member of old.members) depart(old, member, old.bound.config.settings);
  unit.departed = continuedDeparted(old.departed, unit.bound.layout.profile);
}

/** Records that wait in a state which nothing continues: its successor begins with them. */
export function queuedIn(old: SeriesUnit | GroupUnit): readonly ReceivedObservation[] {
  const queued = old.waiting.forBackfill ?? [];
  return old instanceof GroupUnit ? [...queued, ...old.pendingRecords(), ...old.waiting.outOfOrder] : queued;
}

/** Another unit has begun with them, or they are dead letters. */
export function dropQueued(old: SeriesUnit | GroupUnit): void {
  old.waiting.endBackfill();
  if (!(old instanceof GroupUnit)) return;
  old.pending = [];
  old.waiting.takeOutOfOrder();
}

/**
 * As `takeOver`, for a unit that begins with the records that wait: the values before them are lost. Where only
 * silences wait, its newest time stays unknown.
 */
export function takeOverQueue(
  newestOffset: number,
  queued: readonly ReceivedObservation[],
  unit: Pick<DetectionUnit, 'newestOffset' | 'arrivedMs'>,
): void {
  unit.newestOffset = newestOffset;
  for (const { silence, timestampMs } of queued) {
    if (silence === undefined && !(timestampMs <= unit.arrivedMs)) unit.arrivedMs = timestampMs;
  }
}
