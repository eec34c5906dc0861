import type { GroupState } from '../../checkpoint/group-state.ts';
import type { StreamDetectionSettings } from '../../detection/calibration/settings.ts';
import { gridPosition } from '../../time/frequency.ts';
import { PHASE_GAIN_MIN, placeOnGrid } from '../../time/grid-placement.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import { newestOf } from './group-steps.ts';

/**
 * Position of a member's observation: that of the nearest time step, or the next one where the step has another
 * observation of the member that is too far away. How far is known while the step waits for others, as the first one
 * does, when the phase of the group is a guess.
 */
export function positionInGroup(
  { originMs, pending, members }: Pick<GroupState, 'originMs' | 'pending' | 'members'>,
  { series, timestampMs }: Pick<ReceivedObservation, 'series' | 'timestampMs'>,
  { freq, jitterMs }: StreamDetectionSettings,
): number {
  const position = gridPosition(freq, originMs, timestampMs);
  const seen = pending.find((step) => step.position === position)?.observations.get(series);
  if (seen === undefined || newestOf({ pending, members }, series) !== position) return position;
  const grid = { freq, originMs, positions: position + 1, newestMs: seen.timestampMs, jitterMs, gapLimit: 0 };
  return placeOnGrid(grid, timestampMs).kind === 'next' ? position + 1 : position;
}

/**
 * Event time of position 0 after an observation, as for a series: the mean of the first ones, then slowly. All members
 * together move it as far as one series moves its own.
 */
export function groupPhase(
  { originMs, pending, members }: Pick<GroupState, 'originMs' | 'pending' | 'members'>,
  { timestampMs }: Pick<ReceivedObservation, 'timestampMs'>,
  { position, freq }: { readonly position: number; readonly freq: StreamDetectionSettings['freq'] },
): number {
  if (freq.kind !== 'fixed') return originMs;
  const inStep = pending.find((step) => step.position === position)?.observations.size ?? 1;
  const gain = Math.max(PHASE_GAIN_MIN / Math.max(members.length, inStep), 1 / ((position + 1) * inStep));
  return originMs + gain * (timestampMs - (originMs + position * freq.stepMs));
}
