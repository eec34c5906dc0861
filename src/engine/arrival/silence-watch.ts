import type { SilenceCause } from '../../records/score-record.ts';
import { meanStepMs } from '../../time/frequency.ts';
import { sameGrid } from '../unit/bound-detector.ts';
import type { DetectionUnit } from '../unit/detection-unit.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import { silenceMs } from '../unit/silence-records.ts';
import { isStale, type StaleUnit } from './stale-unit.ts';

/** It never moves back, so that a restore watches as a worker that was not interrupted. */
export function silenceDeadline(unit: DetectionUnit | StaleUnit): number {
  const limitMs = silenceLimitOf(unit);
  // Asked with every record of a group: who sends what is not looked at without need.
  if (limitMs === null) return Number.POSITIVE_INFINITY;
  return limitMs + (isStale(unit) ? Math.max(unit.arrivedMs, unit.heardMs) : unit.silenceSinceMs());
}

/** As `silenceMs`, also of series that no unit continues so far. */
export function silenceLimitOf(unit: DetectionUnit | StaleUnit): number | null {
  if (!isStale(unit)) return silenceMs(unit.bound.config.settings);
  const { retired, taker } = unit;
  if (retired === null || retired.group !== null || taker === null) return null;
  if (retired.silent || !sameGrid(retired.bound, taker)) return null;
  return silenceMs(taker.config.settings);
}

/**
 * Whether a unit is silent no longer than its whole partition was, which one move of event time has just ended. Once
 * between two records of the unit: the others may be slower than it.
 */
export function pausedWithPartition(
  { arrivedMs, heardMs }: DetectionUnit,
  { moveMs, limitMs }: { readonly moveMs: number; readonly limitMs: number | null },
): boolean {
  return heardMs <= arrivedMs && moveMs > (limitMs ?? Number.POSITIVE_INFINITY);
}

/**
 * What is given to a unit in place of an observation. Its time is that at which the last missing one was due, that of
 * its record the event time of the partition.
 */
export function silenceMark(
  unit: DetectionUnit,
  { offset, cause, clockMs }: { readonly offset: number; readonly cause: SilenceCause; readonly clockMs: number },
): ReceivedObservation {
  const { freq, silenceAfter } = unit.bound.config.settings;
  const timestampMs = Math.round(unit.arrivedMs + (silenceAfter ?? 0) * meanStepMs(freq));
  const record = { partition: -1, offset, timestampMs: clockMs, key: null, value: null };
  return {
    series: unit.key,
    group: null,
    timestampMs,
    value: Number.NaN,
    record,
    silence: { cause, lastOffset: unit.newestOffset },
  };
}
