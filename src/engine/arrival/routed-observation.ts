import { meanStepMs } from '../../time/frequency.ts';
import type { LoadedDetector } from '../unit/loaded-detector.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import type { Scorable } from '../unit/scorable.ts';

/** An observation with the detector that takes it. */
export type RoutedObservation = ReceivedObservation & {
  readonly loaded: LoadedDetector;
  /** As in `DecodedObservation`. */
  readonly laterMs?: number | undefined;
  /** The unit that takes it, as it was decoded; undefined if that was not looked up. */
  readonly unit?: Scorable | undefined;
  /** The `removals` of all units then: after another one, `unit` may be gone. */
  readonly removals?: number;
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
