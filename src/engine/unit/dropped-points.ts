import { gridTime, meanStepMs } from '../../time/frequency.ts';
import type { ReceivedObservation } from './received-observation.ts';
import { refuseLate } from './refused-observations.ts';
import type { ScoreSink } from './score-sink.ts';
import type { ScoredSeries } from './scored-series.ts';

/** Drops what repeats the point that a counter continues from, or is older, where that has no value, and so no row. */
export function dropBeforeBase(unit: ScoredSeries, observation: ReceivedObservation, sink: ScoreSink): boolean {
  const { key, loaded, steps, takenMs } = unit;
  const base = steps?.baseOf(key) ?? null;
  if (steps === null || base === null || base.timestampMs <= takenMs) return false;
  const apart = steps.apartFromBase(observation);
  if (apart === 'late') refuseLate(observation, loaded, sink);
  else if (apart === 'duplicate') dropRepeated(unit, observation, { apartMs: 0, sink });
  return apart !== 'next';
}

/** Drops a point whose time step is taken. */
export function dropRepeated(
  unit: ScoredSeries,
  observation: ReceivedObservation,
  { apartMs, sink }: { readonly apartMs: number; readonly sink: ScoreSink },
): void {
  const { key, loaded, steps } = unit;
  if (isConflict(unit, observation)) sink.counters.suspect('conflicts', loaded, key);
  else sink.counters.duplicate(loaded, apartMs);
  steps?.repeats(observation, loaded, sink);
}

/** It has the time of the newest observation, and another value. */
function isConflict(
  { key, loaded, steps, takenMs, originMs, detector }: ScoredSeries,
  { timestampMs, value }: ReceivedObservation,
): boolean {
  if (steps !== null) return isOther(steps.baseOf(key), { timestampMs, value });
  if (timestampMs !== takenMs) return false;
  const position = detector.positions - 1;
  const kept = detector.rings.distanceAt(position);
  const { freq } = loaded.config.settings;
  // A duplicate may have moved the newest time away from that of the value.
  const offGridMs = Math.abs(gridTime(freq, originMs, position) - timestampMs);
  return offGridMs <= meanStepMs(freq) / 8 && !Number.isNaN(kept) && Math.fround(value - detector.origin) !== kept;
}

/** Another value at the same time. A point of a counter of deltas has none. */
export function isOther(
  kept: { readonly timestampMs: number; readonly value: number } | null,
  { timestampMs, value }: Pick<ReceivedObservation, 'timestampMs' | 'value'>,
): boolean {
  return kept !== null && kept.timestampMs === timestampMs && kept.value !== value && !Number.isNaN(kept.value);
}
