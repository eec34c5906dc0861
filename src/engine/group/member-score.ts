import type { PendingObservation } from '../../checkpoint/pending-steps.ts';
import type { GroupDetection } from '../../detection/series/group-detector.ts';
import { type InputPlace, inputAt } from '../../records/input-place.ts';
import { numberOrNull, type RestartReason, type ScoreRecord } from '../../records/score-record.ts';
import type { LoadedDetector } from '../unit/loaded-detector.ts';

/** One member in a time step of its group. */
interface MemberRow {
  readonly group: GroupDetection;
  readonly member: GroupDetection['members'][number];
  readonly series: string;
  readonly observation: PendingObservation;
}

interface MemberScoreOptions {
  readonly loaded: LoadedDetector;
  /** The group's id. */
  readonly group: string;
  readonly restarted: RestartReason | null;
  readonly place: InputPlace;
}

/** The score of one member in a time step: its own numbers, and the verdict on the group. */
export function memberScore(
  { group: step, member, series, observation }: MemberRow,
  { loaded, group, restarted, place }: MemberScoreOptions,
): ScoreRecord {
  const { config, modelDigest } = loaded;
  const { timestampMs, value, offset } = observation;
  const isScored = member.state === 'calibrating' || member.state === 'scored';
  return {
    series,
    detector: config.name,
    model: config.model,
    modelDigest,
    group,
    timestampMs,
    value,
    forecast: numberOrNull(member.forecast),
    lo: null,
    hi: null,
    level: config.settings.level,
    anomalyScore: numberOrNull(member.score),
    accumulatedAnomalyScore: numberOrNull(step.accumulatedScore),
    anomaly: step.anomaly,
    grade: numberOrNull(step.grade),
    severity: numberOrNull(step.severity),
    alarm: step.alarm,
    state: isScored ? (step.calibrated ? 'scored' : 'calibrating') : member.state,
    cause: null,
    position: member.position,
    window: { start: Math.max(0, member.windowStart), end: member.windowStart + config.settings.detectionSize },
    restarted: restarted !== null,
    input: inputAt(place, offset),
  };
}
