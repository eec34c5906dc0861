import { groupKey } from '../../checkpoint/changelog-series.ts';
import type { OrphanEvents } from '../../checkpoint/delta-log.ts';
import type { EventState } from '../../checkpoint/event-state.ts';
import { changeReader, type OpenState, openStateReader, openStateSize } from '../../checkpoint/open-states.ts';
import type { CloseReason } from '../../records/anomaly-event.ts';
import { idleLimitOf } from '../arrival/idle-limit.ts';
import { type OutdatedState, outdatedUnit } from '../arrival/outdated-state.ts';
import type { ScoredGroup } from '../group/scored-group.ts';
import { isGrouped, type LoadedDetector } from '../unit/loaded-detector.ts';
import { ScoredSeries } from '../unit/scored-series.ts';
import type { PartitionState } from './partition-state.ts';

interface PreviousState {
  readonly past: LoadedDetector;
  readonly events: EventState | null;
  readonly detectorOf: (series: string) => LoadedDetector | null;
  /** The detector that has the name which the state of a group is kept under. */
  readonly named: LoadedDetector | null;
  /** null for a series. */
  readonly group: string | null;
}

/** Keeps a series or group under its old settings, with its values. */
export function keepPrevious(
  openState: OpenState,
  { past, events, detectorOf, named, group }: PreviousState,
  state: PartitionState,
): OutdatedState {
  const { key } = openState;
  const unit = state.all.createPrevious(key, group, past);
  const reader = openStateReader(openState);
  reader.text();
  unit.readOpenState(reader);
  for (const change of openState.changes) unit.readChange(changeReader(change));
  Object.assign(unit, openStateSize(openState));
  const newOwner = newOwnerOf(unit, named, detectorOf);
  const renamed = newOwner === null || group === null ? key : groupKey(newOwner.config.name, group);
  const migratedKey = state.outdated.has(renamed) ? key : renamed;
  const reason = named === null && newOwner === null ? 'detector_removed' : 'settings_changed';
  const idleMs = idleLimitOf(newOwner ?? named);
  const outdated = outdatedUnit(unit, { orphan: orphanOf(events, reason), migratedKey, idleMs, newOwner });
  state.all.outdated.set(migratedKey, outdated);
  return outdated;
}

/** Members, and series that wait to be ones. */
function seriesOf({ members, joining, pending, waiting }: ScoredGroup): string[] {
  const pendingSeries = pending.flatMap(({ observations }) => [...observations.keys()]);
  return [...members, ...waiting.all].map(({ series }) => series).concat([...joining.keys()], pendingSeries);
}

/** A group follows its members to the detector that watches them, where its own was renamed. */
function newOwnerOf(
  unit: ScoredSeries | ScoredGroup,
  named: LoadedDetector | null,
  detectorOf: (series: string) => LoadedDetector | null,
): LoadedDetector | null {
  if (unit instanceof ScoredSeries) return named !== null && !isGrouped(named) ? named : null;
  const groupers = [...seriesOf(unit).map(detectorOf), named].filter((one) => one !== null && isGrouped(one));
  return groupers.find((one) => one === named) ?? groupers[0] ?? null;
}

export function orphanOf(state: EventState | null, reason: CloseReason): OrphanEvents | null {
  return state === null ? null : { state, reason };
}
