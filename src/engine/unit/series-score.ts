import type { Detection } from '../../detection/alarm/detection.ts';
import { numberOrNull, type ScoreRecord } from '../../records/score-record.ts';
import type { LoadedDetector } from './loaded-detector.ts';

/** A detection, or the row of a series that is silent. */
type ScoredRow = Omit<Detection, 'state' | 'unusual' | 'threshold' | 'season' | 'elevated' | 'outsideProfile'> &
  Pick<ScoreRecord, 'state'>;

/** Fields of an observation that its detection lacks. */
interface ScoredObservation extends Pick<ScoreRecord, 'series' | 'timestampMs' | 'value' | 'restarted' | 'input'> {
  readonly loaded: LoadedDetector;
}

/** The score of one observation of a series that is scored alone. */
export function seriesScore(
  detection: ScoredRow,
  { loaded, series, timestampMs, value, restarted, input }: ScoredObservation,
): ScoreRecord {
  const { config, modelDigest } = loaded;
  const { windowStart } = detection;
  return {
    series,
    detector: config.name,
    model: config.model,
    modelDigest,
    group: null,
    timestampMs,
    value,
    forecast: numberOrNull(detection.forecast),
    lo: numberOrNull(detection.lo),
    hi: numberOrNull(detection.hi),
    level: config.settings.level,
    anomalyScore: numberOrNull(detection.score),
    accumulatedAnomalyScore: null,
    anomaly: detection.anomaly,
    grade: numberOrNull(detection.grade),
    severity: numberOrNull(detection.severity),
    alarm: detection.alarm,
    state: detection.state,
    cause: null,
    position: detection.position,
    window: { start: Math.max(0, windowStart), end: windowStart + config.settings.detectionSize },
    restarted,
    input,
  };
}
