import type { DeadLetterCause, ReceivedObservation } from './batch-outcome.ts';
import type { BoundDetector } from './bound-detector.ts';

/** Why an observation that is older than the newest one of its series is refused. */
export function whyLate({ series, timestampMs }: ReceivedObservation, { config }: BoundDetector): DeadLetterCause {
  const detail = `${new Date(timestampMs).toISOString()} is older than the newest observation of its series`;
  return { reason: 'late', detail, series, detector: config.name };
}
