import type { SilenceCause } from '../../records/score-record.ts';
import { meanStepMs } from '../../time/frequency.ts';
import { sameGrid } from '../unit/loaded-detector.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import type { Scorable } from '../unit/scorable.ts';
import { silenceMs } from '../unit/silence.ts';
import { isOutdated, type OutdatedState } from './outdated-state.ts';

/** It never moves back, so that a restore watches as a worker that was not interrupted. */
export function silenceDeadline(unit: Scorable | OutdatedState): number {
  const limitMs = silenceLimitOf(unit);
  // Called with every record of a group, so it examines members only if needed.
  if (limitMs === null) return Number.POSITIVE_INFINITY;
  return limitMs + (isOutdated(unit) ? Math.max(unit.arrivedMs, unit.lastSeenMs) : unit.silenceSinceMs());
}

/** As `silenceMs`, also of series that no unit continues so far. */
export function silenceLimitOf(unit: Scorable | OutdatedState): number | null {
  if (!isOutdated(unit)) return silenceMs(unit.loaded.config.settings);
  const { previous, newOwner } = unit;
  if (previous === null || previous.group !== null || newOwner === null) return null;
  if (previous.silent || !sameGrid(previous.loaded, newOwner)) return null;
  return silenceMs(newOwner.config.settings);
}

/**
 * Whether a unit is silent no longer than its whole partition was, which one move of event time has just ended. Once
 * between two records of the unit: the others may be slower than it.
 */
export function pausedWithPartition(
  { arrivedMs, lastSeenMs }: Scorable,
  { moveMs, limitMs }: { readonly moveMs: number; readonly limitMs: number | null },
): boolean {
  return lastSeenMs <= arrivedMs && moveMs > (limitMs ?? Number.POSITIVE_INFINITY);
}

/**
 * Dispatched to a unit instead of an observation. Its time is that at which the last missing one was due, that of its
 * record the event time of the partition.
 */
export function silenceMark(
  unit: Scorable,
  {
    offset,
    cause,
    watermarkMs,
  }: { readonly offset: number; readonly cause: SilenceCause; readonly watermarkMs: number },
): ReceivedObservation {
  const { freq, silenceAfter } = unit.loaded.config.settings;
  const timestampMs = Math.round(unit.arrivedMs + (silenceAfter ?? 0) * meanStepMs(freq));
  const record = { partition: -1, offset, timestampMs: watermarkMs, key: null, value: null };
  return {
    series: unit.key,
    group: null,
    timestampMs,
    value: Number.NaN,
    record,
    silence: { cause, lastOffset: unit.newestOffset },
  };
}
