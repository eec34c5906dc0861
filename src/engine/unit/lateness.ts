import type { LoadedDetector } from './loaded-detector.ts';
import type { ReceivedObservation } from './received-observation.ts';
import type { DeadLetterCause } from './score-sink.ts';

/** Reason to refuse an observation that is older than the newest one of its series, or whose time step is closed. */
export function whyLate(
  { series, timestampMs, points }: ReceivedObservation,
  { config }: LoadedDetector,
): DeadLetterCause {
  const isPoint = config.settings.aggregate !== undefined && points === undefined;
  const why = isPoint ? 'lies in a time step that is closed' : 'is older than the newest observation of its series';
  const step = points === undefined ? '' : `the step of ${points} points at `;
  const detail = `${step}${new Date(timestampMs).toISOString()} ${why}`;
  return { reason: 'late', detail, series, detector: config.name };
}
