/** How far the detection of a series has come. Only `scored` ever flags an anomaly. */
export const SCORE_STATES = [
  /** Too little context for a forecast. */
  'warming-up',
  /** Enough context, but no forecast covers this position. */
  'not-forecasted',
  /** Forecasted, but with too few residuals to judge by: the score is there, the flag is not. */
  'calibrating',
  'scored',
] as const;

export type ScoreState = (typeof SCORE_STATES)[number];

/** Why a series began again at position 0. */
const RESTART_REASONS = [
  /** More grid steps are missing than the detector's gap limit. */
  'gap',
  /** The detector's settings or its model are not those the state was made with. */
  'settings-changed',
] as const;

export type RestartReason = (typeof RESTART_REASONS)[number];

/** A partition of the input topic. */
export interface InputPlace {
  readonly topic: string;
  readonly partition: number;
}

/**
 * What becomes of one observation: a record of the output topic. Written, every number is finite; in memory NaN may stand for a
 * number that does not exist, and is written as null.
 */
export interface ScoreRecord {
  readonly series: string;
  readonly detector: string;
  readonly model: string;
  readonly modelDigest: string;
  /** The group that was judged together; null where each series is judged alone. */
  readonly group: string | null;
  /** Event time, integer milliseconds since the epoch. */
  readonly timestampMs: number;
  readonly value: number;
  readonly forecast: number | null;
  /** Bounds of the interval at `level`, the observation being anomalous strictly outside of them; null where a group is judged together. */
  readonly lo: number | null;
  readonly hi: number | null;
  /** Confidence level in percent. */
  readonly level: number;
  /** Standardised residual z of this observation. */
  readonly anomalyScore: number | null;
  /** Standardised score of the whole group at this time step; null where each series is judged alone. */
  readonly accumulatedAnomalyScore: number | null;
  readonly anomaly: boolean;
  readonly state: ScoreState;
  /** Observations since the series (last) started, from 0, filled gaps included. */
  readonly position: number;
  /** The detection window this observation belongs to: positions `start <= position < end`. */
  readonly window: { readonly start: number; readonly end: number };
  /** True on the first observation after the series started over at position 0. */
  readonly restarted: boolean;
  /** Where the observation came from. */
  readonly input: InputPlace & { readonly offset: number };
}

/** JSON and Avro know no NaN: what does not exist is null. */
export function numberOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

export type ScoreFieldKind = 'text' | 'text-or-null' | 'number' | 'number-or-null' | 'integer' | 'boolean' | 'object';

/** Every field in the order it is written. The schemas of the record say the same; a test holds them to it. */
export const SCORE_FIELDS: Readonly<Record<keyof ScoreRecord, ScoreFieldKind>> = {
  series: 'text',
  detector: 'text',
  model: 'text',
  modelDigest: 'text',
  group: 'text-or-null',
  timestampMs: 'integer',
  value: 'number',
  forecast: 'number-or-null',
  lo: 'number-or-null',
  hi: 'number-or-null',
  level: 'number',
  anomalyScore: 'number-or-null',
  accumulatedAnomalyScore: 'number-or-null',
  anomaly: 'boolean',
  state: 'text',
  position: 'integer',
  window: 'object',
  restarted: 'boolean',
  input: 'object',
};
