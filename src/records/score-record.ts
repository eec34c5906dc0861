export interface InputPlace {
  readonly topic: string;
  readonly partition: number;
}

/**
 * The offset of a record that is in another partition than the state of its series does since the input got more
 * partitions: one number below every offset, which encodes both. Numbers of one partition ascend as its offsets do.
 */
export function offsetElsewhere(partition: number, offset: number): number {
  return offset < 0 ? offset : LOWEST + offset * PARTITIONS_MAX + partition;
}

const LOWEST = Number.MIN_SAFE_INTEGER;
const PARTITIONS_MAX = 16_384;

/** Place of an input record; `place` is that of its series. */
export function inputAt({ topic, partition }: InputPlace, offset: number): InputPlace & { readonly offset: number } {
  if (offset >= -1) return { topic, partition, offset };
  const code = offset - LOWEST;
  return { topic, partition: code % PARTITIONS_MAX, offset: Math.floor(code / PARTITIONS_MAX) };
}

/** States of a detection. Only `scored` ever flags an anomaly. */
const DETECTION_STATES = [
  /** Too little context for a forecast. */
  'warming-up',
  /** Enough context, but no forecast covers this position, or nothing was observed in its context. */
  'not-forecasted',
  /** Forecasted, but fewer than 6 detection windows of forecasted samples came before: never flagged. */
  'calibrating',
  'scored',
] as const;
export type DetectionState = (typeof DETECTION_STATES)[number];

/** Every state that a score can have. The history stores their places in this list: it only grows at its end. */
export const SCORE_STATES = [
  ...DETECTION_STATES,
  /** No score: the series has stopped. */
  'silent',
  /** No score: the series sends again after it was silent. */
  'returned',
] as const;
export type ScoreState = (typeof SCORE_STATES)[number];

/** Evidence that a series is silent: event time, or in a partition without any record the clock of a worker. */
export type SilenceCause = 'event-time' | 'clock';

/** Why a series started over at position 0. */
const RESTART_REASONS = [
  /** More grid steps are missing than the detector's gap limit. */
  'gap',
  /** The state was made with other settings or another model. */
  'settings-changed',
  /** The input topic, or the changelog while a worker ran, was deleted and created again. */
  'topic-recreated',
] as const;

export type RestartReason = (typeof RESTART_REASONS)[number];

/**
 * A record of the output topic: the score of one observation. In memory a number that does not exist may be NaN; it is
 * written as null. Every written number is finite.
 */
export interface ScoreRecord {
  readonly series: string;
  readonly detector: string;
  readonly model: string;
  readonly modelDigest: string;
  /** The group that was scored together; null if each series is scored alone. */
  readonly group: string | null;
  /** Event time, integer milliseconds since the epoch. */
  readonly timestampMs: number;
  readonly value: number;
  readonly forecast: number | null;
  /**
   * Bounds of the interval at `level`; an observation strictly outside is an anomaly. null if a group is scored
   * together.
   */
  readonly lo: number | null;
  readonly hi: number | null;
  /** Confidence level in percent. */
  readonly level: number;
  /** Standardised residual z of this observation. */
  readonly anomalyScore: number | null;
  /** Standardised score of the whole group at this time step; null if each series is scored alone. */
  readonly accumulatedAnomalyScore: number | null;
  readonly anomaly: boolean;
  /**
   * How unusual the observation is, 0..1, comparable across series; a group has one. null without a forecast, or where
   * alarms are off.
   */
  readonly grade: number | null;
  /** Amount of unusual behaviour of the series (or group), >= 0, unbounded; null if the grade is. */
  readonly severity: number | null;
  /** The threshold of the target rate of false alarms is exceeded. */
  readonly alarm: boolean;
  readonly state: ScoreState;
  /** null except for a silent series. */
  readonly cause: SilenceCause | null;
  /** Observations since the series (last) started, from 0, filled gaps included. */
  readonly position: number;
  /** The detection window of this observation: positions `start <= position < end`. */
  readonly window: { readonly start: number; readonly end: number };
  /** True on the first observation after the series started over at position 0. */
  readonly restarted: boolean;
  /** The input record of the observation. */
  readonly input: InputPlace & { readonly offset: number };
}

/** JSON and Avro have no NaN: a number that does not exist is null. */
export function numberOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** Defaults of fields that records of earlier versions lack. */
export const SCORE_DEFAULTS: Partial<ScoreRecord> = { grade: null, severity: null, alarm: false, cause: null };

/** True if a record is one of a series that stopped or sends again, and no score of an observation. */
export function isSilence({ state }: Pick<ScoreRecord, 'state'>): boolean {
  return state === 'silent' || state === 'returned';
}

/**
 * Whether people are shown the record: its alarm, or where alarms are off, that it is outside its interval; and that
 * a series stopped, or sends again.
 */
export function isFlagged(score: Pick<ScoreRecord, 'grade' | 'alarm' | 'anomaly' | 'state'>): boolean {
  const { grade, alarm, anomaly } = score;
  if (isSilence(score)) return true;
  return grade === null ? anomaly : alarm;
}
