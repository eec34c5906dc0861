import { VALUE_MAGNITUDE_MAX } from '../../detection/calibration/precision.ts';
import { gridTime, meanStepMs } from '../../time/frequency.ts';
import type { LoadedDetector } from './loaded-detector.ts';
import type { PackedSeries } from './packed-series.ts';
import type { ReceivedObservation } from './received-observation.ts';
import type { DeadLetterCause, ScoreSink } from './score-sink.ts';

/** The record of an observation becomes a dead letter. */
export function refuse(
  { record, series }: Pick<ReceivedObservation, 'record' | 'series'>,
  { reason, detail }: Pick<DeadLetterCause, 'reason' | 'detail'>,
  { loaded, sink }: { readonly loaded: LoadedDetector; readonly sink: ScoreSink },
): void {
  sink.outputs.deadLetter(record, { reason, detail, series, detector: loaded.config.name });
}

/** It is older than the newest one of its series, or its time step is closed. */
export function refuseLate(observation: ReceivedObservation, loaded: LoadedDetector, sink: ScoreSink): void {
  const { timestampMs, points } = observation;
  const isPoint = loaded.config.settings.aggregate !== undefined && points === undefined;
  const why = isPoint ? 'lies in a time step that is closed' : 'is older than the newest observation of its series';
  const step = points === undefined ? '' : `the step of ${points} points at `;
  const detail = `${step}${new Date(timestampMs).toISOString()} ${why}`;
  refuse(observation, { reason: 'late', detail }, { loaded, sink });
}

/** True if an aggregated value can be scored. */
export function isScorable(value: number): boolean {
  return Math.abs(value) <= VALUE_MAGNITUDE_MAX;
}

/** A counter or a time step came to nothing, or to a number that is too large. */
export function refuseValue(
  value: number,
  observation: ReceivedObservation,
  loaded: LoadedDetector,
  sink: ScoreSink,
): void {
  if (Number.isNaN(value)) {
    sink.counters.withoutValue();
    return;
  }
  const made = observation.points === undefined ? 'its change' : `what ${observation.points} points come to`;
  const detail = `${made} is ${value}: its magnitude is beyond ${VALUE_MAGNITUDE_MAX}`;
  refuse(observation, { reason: 'value-not-finite', detail }, { loaded, sink });
}

type PlacedSeries = PackedSeries & { readonly key: string };

/** Drops what repeats the point that a counter continues from, or is older, where that has no value, and so no row. */
export function dropBeforeBase(unit: PlacedSeries, observation: ReceivedObservation, sink: ScoreSink): boolean {
  const { key, loaded, steps, acceptedMs } = unit;
  const base = steps?.baseOf(key) ?? null;
  if (steps === null || base === null || base.timestampMs <= acceptedMs) return false;
  const apart = steps.apartFromBase(observation);
  if (apart === 'late') refuseLate(observation, loaded, sink);
  else if (apart === 'duplicate') dropRepeated(unit, observation, { apartMs: 0, sink });
  return apart !== 'next';
}

/** Drops a point whose time step is filled. */
export function dropRepeated(
  unit: PlacedSeries,
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
  { key, loaded, steps, acceptedMs, originMs, detector }: PlacedSeries,
  { timestampMs, value }: ReceivedObservation,
): boolean {
  if (steps !== null) return isOther(steps.baseOf(key), { timestampMs, value });
  if (timestampMs !== acceptedMs) return false;
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
