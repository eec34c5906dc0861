import type { Detection } from '../../detection/alarm/detection.ts';
import { numberOrNull, type ScoreRecord } from '../../records/score-record.ts';
import type { LoadedDetector } from './loaded-detector.ts';

/** A detection, the row of a member with the verdict on its group, or the row of a series that is silent. */
type ScoredRow = Omit<Detection, 'state' | 'unusual' | 'threshold' | 'season' | 'elevated' | 'outsideProfile'> &
  Pick<ScoreRecord, 'state'>;

type ScoredObservation = Pick<ScoreRecord, 'series' | 'group' | 'timestampMs' | 'value'>;

/** Fields of a score that neither its observation nor its row has. */
interface ScoreContext extends Pick<ScoreRecord, 'cause' | 'restarted' | 'input'> {
  readonly loaded: LoadedDetector;
  /** NaN for a series that is scored alone. */
  readonly accumulatedScore: number;
}

/** The score of one observation. */
export function scoreOfRow(
  row: ScoredRow,
  { series, group, timestampMs, value }: ScoredObservation,
  { loaded: { config, modelDigest }, cause, restarted, input, accumulatedScore }: ScoreContext,
): ScoreRecord {
  const { windowStart } = row;
  return {
    series,
    detector: config.name,
    model: config.model,
    modelDigest,
    group,
    timestampMs,
    value,
    forecast: numberOrNull(row.forecast),
    lo: numberOrNull(row.lo),
    hi: numberOrNull(row.hi),
    level: config.settings.level,
    anomalyScore: numberOrNull(row.score),
    accumulatedAnomalyScore: numberOrNull(accumulatedScore),
    anomaly: row.anomaly,
    grade: numberOrNull(row.grade),
    severity: numberOrNull(row.severity),
    alarm: row.alarm,
    state: row.state,
    cause,
    position: row.position,
    window: { start: Math.max(0, windowStart), end: windowStart + config.settings.detectionSize },
    restarted,
    input,
  };
}
