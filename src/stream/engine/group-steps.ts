import type { StreamDetectionSettings } from '../../detector/settings.ts';
import type { GroupState, PendingStep } from '../changelog/group-state.ts';
import type { ReceivedObservation } from './batch-outcome.ts';

/** Adds an observation to its time step, by position. */
export function keepObservation(
  pending: PendingStep[],
  position: number,
  { series, timestampMs, value, record }: ReceivedObservation,
): void {
  let at = pending.findIndex((step) => step.position >= position);
  if (at < 0) at = pending.length;
  let step = pending[at];
  if (step?.position !== position) {
    step = { position, observations: new Map() };
    pending.splice(at, 0, step);
  }
  const { offset, headers } = record;
  step.observations.set(series, { timestampMs, value, offset, ...(headers && { headers }) });
}

/** Newest position of a series, in a pending step or before; -1 where there is none. */
export function newestOf({ pending, members }: Pick<GroupState, 'pending' | 'members'>, series: string): number {
  for (let i = pending.length - 1; i >= 0; i--) if (pending[i].observations.has(series)) return pending[i].position;
  return members.find((member) => member.series === series)?.newest ?? -1;
}

/** Whether the next time step is there, or its grace is over. */
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

/** Whether a member that is missing for so long is none any more. */
export function hasLeft(newest: number, position: number, { gapLimit }: StreamDetectionSettings): boolean {
  return position - newest - 1 > gapLimit;
}
