import type { GroupState } from '../../checkpoint/group-state.ts';
import type { PendingObservation, PendingStep } from '../../checkpoint/pending-steps.ts';
import type { StreamDetectionSettings } from '../../detection/calibration/settings.ts';
import { contextValues } from '../../detection/series/context-values.ts';
import { gridTime } from '../../time/frequency.ts';
import { depart } from './departed-members.ts';

/** What a group hands on to its successor under other settings. Positions count from its first kept step. */
export interface GroupPast {
  /** Event time of the first step. */
  readonly originMs: number;
  readonly members: readonly PastMember[];
  /** Steps that were scored: the values of members lie before it. */
  readonly steps: number;
  /** Time steps that were not scored. */
  readonly pending: readonly PendingStep[];
  readonly joining: ReadonlyMap<string, number>;
  /** What its members have learned, and those that left. They join a successor as if they returned. */
  readonly departed: GroupState['departed'];
  /** Newest position of any observation. */
  readonly newest: number;
}

interface PastMember {
  readonly series: string;
  /** Newest position that it counts as seen at. */
  readonly newest: number;
  readonly newestOffset: number;
  /** Position of the first value. */
  readonly start: number;
  /** One a time step; NaN where missing. */
  readonly values: Float64Array;
}

/** The values that a group would forecast from, and what waits in it; null before its first observation. */
export function pastOfGroup(group: GroupState, settings: StreamDetectionSettings): GroupPast | null {
  const { freq } = settings;
  const { originMs, detector, members, pending, joining, newest } = group;
  if (Number.isNaN(originMs)) return null;
  const kept = members.map((member) => ({ member, context: contextValues(member.detector) }));
  const departed = new Map(group.departed);
  for (const member of members) depart({ departed, originMs }, member, settings);
  const first = Math.min(detector.positions, ...kept.map(({ context: [start] }) => start));
  return {
    originMs: gridTime(freq, originMs, first),
    members: kept
      .filter(({ context: [, values] }) => values.length > 0)
      .map(({ member, context: [start, values] }) => ({
        series: member.series,
        newest: member.newest - first,
        newestOffset: member.newestOffset,
        start: start - first,
        values,
      })),
    steps: detector.positions - first,
    pending: pending.map((step) => ({ ...step, position: step.position - first })),
    joining: new Map([...joining].map(([series, position]) => [series, position - first])),
    newest: newest - first,
    departed,
  };
}

interface Replayed {
  readonly offset: number;
  readonly settings: StreamDetectionSettings;
}

/**
 * A step of the past, as if its observations had arrived with the record at `offset`. It has no time where long
 * memories have seen its values already.
 */
export function stepOfPast(past: GroupPast, position: number, { offset, settings }: Replayed): PendingStep {
  const { members, departed, originMs } = past;
  const timestampMs = departed.size > 0 ? Number.NaN : gridTime(settings.freq, originMs, position);
  const observations = new Map<string, PendingObservation>();
  for (const { series, start, values } of members) {
    const value = values[position - start] ?? Number.NaN;
    if (!Number.isNaN(value)) observations.set(series, { timestampMs, value, offset });
  }
  return { position, observations };
}

/** Whether nothing was observed in the `length` steps from `position` on, as far as that is known. */
export function isMissing({ members, steps, pending }: GroupPast, position: number, length: number): boolean {
  const end = position + length;
  if (end > steps && (pending.length === 0 || pending[0].position < end)) return false;
  return members.every(({ start, values }) =>
    values.subarray(Math.max(0, position - start), Math.max(0, end - start)).every(Number.isNaN),
  );
}
