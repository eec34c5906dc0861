import { VALUE_MAGNITUDE_MAX } from '../../detection/calibration/precision.ts';
import type { DeadLetterReason } from '../../records/dead-letter.ts';
import type { LoadedDetector } from './loaded-detector.ts';
import type { ReceivedObservation } from './received-observation.ts';
import type { ScoreSink } from './score-sink.ts';

/** The record of an observation becomes a dead letter. */
export function refuse(
  { record, series }: Pick<ReceivedObservation, 'record' | 'series'>,
  { reason, detail }: { readonly reason: DeadLetterReason; readonly detail: string },
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

/** True if a value that was made of others can be scored. */
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
