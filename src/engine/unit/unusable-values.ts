import { VALUE_MAGNITUDE_MAX } from '../../detection/calibration/precision.ts';
import type { LoadedDetector } from './loaded-detector.ts';
import type { ReceivedObservation } from './received-observation.ts';
import type { ScoreSink } from './score-sink.ts';

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
  const { record, series } = observation;
  const made = observation.points === undefined ? 'its change' : `what ${observation.points} points come to`;
  const detail = `${made} is ${value}: its magnitude is beyond ${VALUE_MAGNITUDE_MAX}`;
  sink.outputs.deadLetter(record, { reason: 'value-not-finite', detail, series, detector: loaded.config.name });
}
