import { meanStepMs } from '../../time/frequency.ts';
import type { DetectionUnit } from '../unit/detection-unit.ts';
import type { RoutedObservation } from '../unit/received-observation.ts';

/** Takes the instant that is nearer to the next step of the series, where a clock shows a time twice. */
export function onlyInstant(observation: RoutedObservation, unit: DetectionUnit): RoutedObservation {
  const { laterMs, timestampMs, series, bound } = observation;
  if (laterMs === undefined) return observation;
  const dueMs = (unit.newestMsOf?.(series) ?? unit.arrivedMs) + meanStepMs(bound.config.settings.freq);
  return Math.abs(laterMs - dueMs) < Math.abs(timestampMs - dueMs)
    ? { ...observation, timestampMs: laterMs }
    : observation;
}
