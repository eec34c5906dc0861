/** How far the detection of a series has come. Only `scored` ever flags an anomaly. */
export const SCORE_STATES = [
  /** Too little context for a forecast. */
  'warming-up',
  /** Forecasted, but with too few residuals to judge by: the score is there, the flag is not. */
  'calibrating',
  'scored',
  /** Enough context, but no forecast covers this position. */
  'not-forecasted',
] as const;

export type ScoreState = (typeof SCORE_STATES)[number];

/** Why a series began again at position 0. */
export const RESTART_REASONS = [
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

/** What becomes of one observation: a record of the output topic. Every number is finite. */
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
  /** Bounds of the interval at `level`; the observation is anomalous strictly outside of them. */
  readonly lo: number | null;
  readonly hi: number | null;
  /** Confidence level in percent. */
  readonly level: number;
  /** Standardised residual z of this observation. */
  readonly anomalyScore: number | null;
  /** Standardised score of the whole group at this time step (multivariate only). */
  readonly accumulatedAnomalyScore: number | null;
  readonly anomaly: boolean;
  readonly state: ScoreState;
  /** Observations since the series (last) started, from 0, filled gaps included. */
  readonly position: number;
  /** The detection window this observation belongs to: positions `start <= position < end`. */
  readonly window: { readonly start: number; readonly end: number };
  /** Only on the first observation after the series started over. */
  readonly restarted: RestartReason | null;
  /** Where the observation came from. */
  readonly input: InputPlace & { readonly offset: number };
}

/** JSON and Avro know no NaN: what does not exist is null. */
export function numberOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
