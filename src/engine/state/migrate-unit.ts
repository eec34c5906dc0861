import { copyArrivals } from '../arrival/outdated-state.ts';
import { continuedDeparted, depart } from '../group/departed-members.ts';
import { ScoredGroup } from '../group/scored-group.ts';
import { type LoadedDetector, sameGrid } from '../unit/loaded-detector.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import type { Scorable } from '../unit/scorable.ts';
import { ScoredSeries } from '../unit/scored-series.ts';

/**
 * A fresh series begins with the values of one under other settings, and with the records that it holds. Returns false
 * if that one kept nothing, its values lie on another grid, or it is a group: groups warm up again.
 */
export function migrateUnit(old: ScoredSeries | ScoredGroup, unit: Scorable): boolean {
  if (!keepsPast(old, unit.loaded) || old instanceof ScoredGroup || !(unit instanceof ScoredSeries)) return false;
  unit.continueFrom(old.past()!);
  copyArrivals(old, unit);
  return true;
}

/** True if a unit of a detector would begin with values of `old`. */
export function keepsPast(old: ScoredSeries | ScoredGroup, loaded: LoadedDetector): boolean {
  return old instanceof ScoredSeries && sameGrid(old.loaded, loaded) && old.past() !== null;
}

/** A group starts over, and what its members have learned of hours and weekdays continues as they join. */
export function keepProfiles(old: ScoredSeries | ScoredGroup, unit: Scorable): void {
  if (!(old instanceof ScoredGroup && unit instanceof ScoredGroup && sameGrid(old.loaded, unit.loaded))) return;
  for (const member of old.members) depart(old, member, old.loaded.config.settings);
  unit.departed = continuedDeparted(old.departed, unit.loaded.layout.profile);
}

/** Records that wait in a state which nothing continues: the unit that replaces it begins with them. */
export function queuedIn(old: ScoredSeries | ScoredGroup): readonly ReceivedObservation[] {
  const queued = old.waiting.forBackfill ?? [];
  return old instanceof ScoredGroup ? [...queued, ...old.pendingRecords(), ...old.waiting.outOfOrder] : queued;
}

/** Another unit has begun with them, or they are dead letters. */
export function dropQueued(old: ScoredSeries | ScoredGroup): void {
  old.waiting.endBackfill();
  if (!(old instanceof ScoredGroup)) return;
  old.pending = [];
  old.waiting.drainOutOfOrder();
}

/**
 * As `migrateUnit`, for a unit that begins with the records that wait: the values before them are lost. Where only
 * silences wait, its newest time stays unknown.
 */
export function migrateQueue(
  newestOffset: number,
  queued: readonly ReceivedObservation[],
  unit: Pick<Scorable, 'newestOffset' | 'arrivedMs'>,
): void {
  unit.newestOffset = newestOffset;
  for (const { silence, timestampMs } of queued) {
    if (silence === undefined && !(timestampMs <= unit.arrivedMs)) unit.arrivedMs = timestampMs;
  }
}
