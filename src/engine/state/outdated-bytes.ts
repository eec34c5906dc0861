import { readArrivals } from '../../checkpoint/arrival-state.ts';
import type { DeltaLogEntry } from '../../checkpoint/delta-log.ts';
import { readEventState } from '../../checkpoint/event-state.ts';
import { newestReader, type OpenState, openStateReader, openStateSize } from '../../checkpoint/open-states.ts';
import { formatOfEntry, STATE_FORMAT_MIN, StateWriter } from '../../checkpoint/state-bytes.ts';
import { type LastSeen, NEVER_SEEN, type OutdatedState, outdatedBytes } from '../arrival/outdated-state.ts';
import { orphanOf } from './keep-previous.ts';
import type { PartitionState } from './partition-state.ts';

/** Replace the digest of an open state of which the key alone is kept: why its series starts over. */
export const TOPIC_RECREATED = 'topic-recreated';
export const SETTINGS_CHANGED = 'settings-changed';
type AbandonReason = typeof TOPIC_RECREATED | typeof SETTINGS_CHANGED;

/** Keeps the key alone, so that the series reports why it starts over. The next commit has to write it. */
export function abandonOpenState(openState: OpenState, reason: AbandonReason, state: PartitionState): DeltaLogEntry {
  const writer = new StateWriter();
  writer.u8(openState.kind);
  writer.text(openState.key);
  writer.text(reason);
  const isRead = abandonReasonOf(openState) === null && formatOfEntry(openState.kind) >= STATE_FORMAT_MIN;
  const orphan = isRead ? orphanOf(readEventState(newestReader(openState)), 'evicted') : null;
  const abandoned = { ...openState, bytes: writer.take(), changes: [] };
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
