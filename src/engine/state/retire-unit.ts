import { groupKey } from '../../checkpoint/changelog-series.ts';
import type { EventState } from '../../checkpoint/event-state.ts';
import type { OrphanEvents } from '../../checkpoint/journal.ts';
import { changeReader, type OpenState, openStateReader, openStateSize } from '../../checkpoint/open-states.ts';
import type { CloseReason } from '../../records/anomaly-event.ts';
import { idleLimitOf } from '../arrival/idle-limit.ts';
import { retiredUnit, type StaleUnit } from '../arrival/stale-unit.ts';
import type { GroupUnit } from '../group/group-unit.ts';
import { type BoundDetector, isGrouped } from '../unit/bound-detector.ts';
import { SeriesUnit } from '../unit/series-unit.ts';
import type { PartitionState } from './partition-state.ts';

interface Retirement {
  readonly past: BoundDetector;
  readonly events: EventState | null;
  readonly detectorOf: (series: string) => BoundDetector | null;
  /** The detector that has the name which the state of a group is kept under. */
  readonly named: BoundDetector | null;
  /** null for a series. */
  readonly group: string | null;
}

/** Keeps a series or group under its old settings, with its values. */
export function retireUnit(
  openState: OpenState,
  { past, events, detectorOf, named, group }: Retirement,
  state: PartitionState,
): StaleUnit {
  const { key } = openState;
  const unit = state.all.createRetired(key, group, past);
  const reader = openStateReader(openState);
  reader.text();
  unit.readOpenState(reader);
  for (const change of openState.changes) unit.readChange(changeReader(change));
  Object.assign(unit, openStateSize(openState));
  const taker = takerOf(unit, named, detectorOf);
  const renamed = taker === null || group === null ? key : groupKey(taker.config.name, group);
  const successorKey = state.stale.has(renamed) ? key : renamed;
  const reason = named === null && taker === null ? 'detector_removed' : 'settings_changed';
  const idleMs = idleLimitOf(taker ?? named);
  const stale = retiredUnit(unit, { orphan: orphanOf(events, reason), successorKey, idleMs, taker });
  state.all.stale.set(successorKey, stale);
  return stale;
}

/** Members, and series that wait to be ones. */
function seriesOf({ members, joining, pending, waiting }: GroupUnit): string[] {
  const pendingSeries = pending.flatMap(({ observations }) => [...observations.keys()]);
  return [...members, ...waiting.all].map(({ series }) => series).concat([...joining.keys()], pendingSeries);
}

/** A group follows its members to the detector that watches them, where its own was renamed. */
function takerOf(
  unit: SeriesUnit | GroupUnit,
  named: BoundDetector | null,
  detectorOf: (series: string) => BoundDetector | null,
): BoundDetector | null {
  if (unit instanceof SeriesUnit) return named !== null && !isGrouped(named) ? named : null;
  const groupers = [...seriesOf(unit).map(detectorOf), named].filter((one) => one !== null && isGrouped(one));
  return groupers.find((one) => one === named) ?? groupers[0] ?? null;
}

export function orphanOf(state: EventState | null, reason: CloseReason): OrphanEvents | null {
  return state === null ? null : { state, reason };
}
