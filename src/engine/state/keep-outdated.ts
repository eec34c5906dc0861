import { readArrivals } from '../../checkpoint/arrival-state.ts';
import { groupKey } from '../../checkpoint/delta-log.ts';
import { type EventState, readEventState } from '../../checkpoint/event-state.ts';
import {
  changeReader,
  newestReader,
  type OpenState,
  openStateReader,
  openStateSize,
} from '../../checkpoint/open-states.ts';
import { formatOfEntry, STATE_FORMAT_MIN, StateWriter } from '../../checkpoint/state-bytes.ts';
import { idleLimitOf } from '../arrival/idle-limit.ts';
import {
  type LastSeen,
  NEVER_SEEN,
  type OutdatedState,
  outdatedBytes,
  outdatedUnit,
} from '../arrival/outdated-state.ts';
import type { ScoredGroup } from '../group/scored-group.ts';
import { isGrouped, type LoadedDetector } from '../unit/loaded-detector.ts';
import { ScoredSeries } from '../unit/scored-series.ts';
import type { PartitionState } from './partition-state.ts';

/** Replace the digest of an open state of which the key alone is kept: why its series starts over. */
export const TOPIC_RECREATED = 'topic-recreated';
export const SETTINGS_CHANGED = 'settings-changed';
type AbandonReason = typeof TOPIC_RECREATED | typeof SETTINGS_CHANGED;

/** Keeps the key alone, so that the series reports why it starts over. The next commit has to write it. */
export function abandonOpenState(openState: OpenState, reason: AbandonReason, state: PartitionState): OutdatedState {
  const writer = new StateWriter();
  writer.u8(openState.kind);
  writer.text(openState.key);
  writer.text(reason);
  const isRead = abandonReasonOf(openState) === null && formatOfEntry(openState.kind) >= STATE_FORMAT_MIN;
  const events = isRead ? readEventState(newestReader(openState)) : null;
  const orphan = events && ({ state: events, reason: 'evicted' } as const);
  const abandoned = { ...openState, bytes: writer.drain(), changes: [] };
  const outdated = keepOutdated(abandoned, { reason, orphan, idleMs: null }, state);
  return Object.assign(outdated, openStateSize(openState));
}

export function abandonReasonOf(openState: OpenState): AbandonReason | null {
  const digest = openStateReader(openState).text();
  return digest === TOPIC_RECREATED || digest === SETTINGS_CHANGED ? digest : null;
}

export function keepOutdated(
  openState: OpenState,
  why: Pick<OutdatedState, 'reason' | 'orphan' | 'idleMs'>,
  state: PartitionState,
): OutdatedState {
  const { key } = openState;
  const outdated = outdatedBytes(openState, { key, ...why, ...lastRecordOf(openState) });
  state.all.outdated.set(key, outdated);
  return outdated;
}

/** Offset and times are behind the events and two numbers, in series and groups alike. */
function lastRecordOf(openState: OpenState): LastSeen & { readonly newestOffset: number } {
  if (abandonReasonOf(openState) !== null) return { ...NEVER_SEEN, newestOffset: -1 };
  const reader = newestReader(openState);
  readEventState(reader);
  const [, , newestOffset] = [reader.number(), reader.number(), reader.number()];
  const { arrivedMs, lastSeenMs = Number.NEGATIVE_INFINITY } = readArrivals(reader);
  return { arrivedMs, lastSeenMs, newestOffset };
}

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
  reader.skipText();
  unit.readOpenState(reader);
  for (const change of openState.changes) unit.readChange(changeReader(change));
  Object.assign(unit, openStateSize(openState));
  const newOwner = newOwnerOf(unit, named, detectorOf);
  const renamed = newOwner === null || group === null ? key : groupKey(newOwner.config.name, group);
  const migratedKey = state.outdated.has(renamed) ? key : renamed;
  const reason = named === null && newOwner === null ? 'detector_removed' : 'settings_changed';
  const idleMs = idleLimitOf(newOwner ?? named);
  const outdated = outdatedUnit(unit, { orphan: events && { state: events, reason }, migratedKey, idleMs, newOwner });
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
