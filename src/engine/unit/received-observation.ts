import type { FoundSilence } from '../../checkpoint/arrival-state.ts';
import type { PointExtras } from '../../records/point-extras.ts';
import { meanStepMs } from '../../time/frequency.ts';
import type { InputRecord } from '../log/log.ts';
import type { LoadedDetector } from './loaded-detector.ts';

/** An observation and the input record it was decoded from. */
export interface ReceivedObservation {
  readonly series: string;
  /** As in `DecodedObservation`. */
  readonly source?: string | undefined;
  readonly group: string | null;
  readonly timestampMs: number;
  readonly value: number;
  readonly extras?: PointExtras | undefined;
  readonly record: InputRecord;
  /** Set where this is no observation, but reports that the series was silent until `timestampMs`. */
  readonly silence?: FoundSilence | undefined;
  /** Set where it is what so many points of a time step came to; `record` is the last of theirs, without its value. */
  readonly points?: number;
}

/** With the detector that takes it. */
export type RoutedObservation = ReceivedObservation & {
  readonly loaded: LoadedDetector;
  /** As in `DecodedObservation`. */
  readonly laterMs?: number | undefined;
};

/** For a time that its clock shows twice: the instant nearer to the step after the newest observation of its unit. */
export function nearerInstant(
  observation: RoutedObservation,
  unit: { readonly arrivedMs: number; newestMsOf?(series: string): number },
): RoutedObservation {
  const { laterMs, timestampMs, loaded, series } = observation;
  if (laterMs === undefined) return observation;
  const dueMs = (unit.newestMsOf?.(series) ?? unit.arrivedMs) + meanStepMs(loaded.config.settings.freq);
  const isLater = Math.abs(laterMs - dueMs) < Math.abs(timestampMs - dueMs);
  return isLater ? { ...observation, timestampMs: laterMs } : observation;
}
