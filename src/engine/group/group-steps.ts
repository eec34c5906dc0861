import { memberKey } from '../../checkpoint/delta-log.ts';
import type { GroupState, Member } from '../../checkpoint/group-state.ts';
import type { PendingStep } from '../../checkpoint/pending-steps.ts';
import type { StreamDetectionSettings } from '../../detection/calibration/settings.ts';
import { gridTime, meanStepMs } from '../../time/frequency.ts';
import type { LoadedDetector } from '../unit/loaded-detector.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import { depart, forgetDeparted, rejoin } from './departed-members.ts';
import { hasRoomFor } from './group-room.ts';

/** Newest position of a series, in a pending step or before; -Infinity if there is none. */
export function newestOf({ pending, members }: Pick<GroupState, 'pending' | 'members'>, series: string): number {
  for (let i = pending.length - 1; i >= 0; i--) if (pending[i].observations.has(series)) return pending[i].position;
  return members.find((member) => member.series === series)?.newest ?? Number.NEGATIVE_INFINITY;
}

/** The distance of a member's observation from the one before it, in whole time steps. */
export function countPlaced(
  { position, newest }: { readonly position: number; readonly newest: number },
  loaded: LoadedDetector,
  sink: ScoreSink,
): void {
  const steps = position - newest;
  if (Number.isFinite(steps)) sink.counters.placed(loaded, steps * meanStepMs(loaded.config.settings.freq), steps - 1);
  else sink.counters.placed(loaded, Number.NaN, 0);
}

/** True if the next time step is there, or its grace is over. */
export function isNextReady(
  { detector, members, joining, pending, newest }: GroupState,
  settings: StreamDetectionSettings,
): boolean {
  const position = detector.positions;
  if (position > newest) return false;
  if (newest - position > settings.grace) return true;
  const step = pending[0];
  if (position === 0 || step?.position !== position) return false;
  const isPresent = (series: string, seenAt: number) =>
    step.observations.has(series) || isAbsent(seenAt, position, settings);
  for (const [series, seenAt] of joining) if (!isPresent(series, seenAt)) return false;
  return members.every((member) => isPresent(member.series, member.newest));
}

/** Time steps do not wait for a member that is missing for so long. */
function isAbsent(newest: number, position: number, settings: StreamDetectionSettings): boolean {
  return hasLeft(newest, position, settings) || position - newest - 1 > settings.detectionSize;
}

/** True if a member that is missing for so long is none any more. */
function hasLeft(newest: number, position: number, { gapLimit }: StreamDetectionSettings): boolean {
  return position - newest - 1 > gapLimit;
}

/** Before a step is scored: members that are missing for too long leave, new series of the step join. */
export function updateMembers(
  group: GroupState & { readonly members: Member[] },
  step: PendingStep | undefined,
  { settings, onLeft }: { readonly settings: StreamDetectionSettings; readonly onLeft: (member: Member) => void },
): void {
  const { detector, members, joining, changes } = group;
  const position = detector.positions;
  for (let i = members.length - 1; i >= 0; i--) {
    if (!hasLeft(members[i].newest, position, settings)) continue;
    onLeft(members[i]);
    depart(group, members[i], settings);
    changes.everything();
    members.splice(i, 1);
    detector.removeMember(i);
  }
  for (const [series, newest] of joining) {
    if (!step?.observations.has(series) && !hasLeft(newest, position, settings)) continue;
    changes.everything();
    joining.delete(series);
  }
  if (step?.position !== position) return;
  for (const [series, { offset }] of step.observations) {
    if (members.some((member) => member.series === series)) continue;
    changes.everything();
    const key = memberKey(group.key, series);
    const joined = { key, series, startOffset: offset, newest: position, newestOffset: offset };
    const member = { ...joined, detector: detector.addMember() };
    members.push(member);
    forgetDeparted(group.departed, gridTime(settings.freq, group.originMs, position), settings);
    rejoin(group.departed, series, member.detector);
  }
}

/** Part of an observation that is kept until its time step is scored. */
export function pendingObservation({ series, timestampMs, value, record }: ReceivedObservation) {
  const { offset, headers } = record;
  return { series, observation: { timestampMs, value, offset, ...(headers && { headers }) } };
}

/** Steps wait for a series that was late. Otherwise one that is slower than the others would be late for ever. */
export function waitForLate(
  group: GroupState,
  { series, position, newest }: { readonly series: string; readonly position: number; readonly newest: number },
  loaded: LoadedDetector,
): void {
  const { joining, members, changes } = group;
  const isNew = newest === Number.NEGATIVE_INFINITY && hasRoomFor(group, series, loaded);
  const returned = members.find((member) => member.series === series && member.newest < position);
  if (isNew) joining.set(series, position);
  if (returned !== undefined) returned.newest = position;
  // A record that was sent again is late, and changes nothing.
  if (isNew || returned !== undefined) changes.everything();
}
