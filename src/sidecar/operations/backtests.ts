import type { AnomalyEvent } from '../../record/anomaly-event.ts';
import type { DescribedDetector } from './operations.ts';

export interface SettingProblems {
  readonly kind: 'problems';
  readonly problems: readonly string[];
}

/** A CSV file, and the settings of the detector that scores it. */
export interface BacktestFile {
  readonly name: string;
  readonly csv: string;
  readonly settings: Readonly<Record<string, string | number>>;
}

export type BacktestOutcome =
  | SettingProblems
  /** `json` has the shape of `BacktestAnswer`. */
  | { readonly kind: 'report'; readonly json: Buffer; readonly observations: number };

/** Kept values of a series, in order of time. */
export interface KeptValues {
  readonly series: string;
  readonly timestamps: Float64Array;
  readonly values: Float64Array;
}

export interface WhatIfQuestion {
  readonly past: KeptValues;
  /** The detectors file that workers score by. */
  readonly detectorsText: string;
  readonly detector: ScoringDetector;
  /** Settings by their keys. */
  readonly changes: Readonly<Record<string, string | number>>;
}

/** The detector of a series. */
export interface ScoringDetector {
  readonly name: string;
  /** Name of the model, as the detectors file has it. */
  readonly model: string;
  /** Name of the pretrained model: the same, or the one that a fine-tuned model was made from. */
  readonly pretrained: string;
  /** Weights of a fine-tuned model. */
  readonly weights: Uint8Array | null;
}

export interface RaisedEvents {
  /** Newest revisions. */
  readonly events: readonly AnomalyEvent[];
  readonly alarms: number;
  readonly alarmsPerWeek: number | null;
}

export interface WhatIfScores {
  readonly observations: number;
  readonly before: RaisedEvents;
  readonly after: RaisedEvents;
  /** The detectors file with the changes. */
  readonly text: string;
}

export type WhatIfOutcome = SettingProblems | { readonly kind: 'scored'; readonly scored: WhatIfScores };

/** For whom something is scored. Owners take turns. */
export interface ScoringTurn {
  readonly owner: string;
  readonly signal: AbortSignal;
}

/**
 * Scores files and kept values in sandboxes, few at a time. Each call throws an HttpProblem 429 where too much of the
 * owner waits, a ServiceError `overloaded` where too much waits, and rejects with the reason of the signal.
 */
export interface Backtests {
  backtest(file: BacktestFile, turn: ScoringTurn): Promise<BacktestOutcome>;
  /** The detector that takes a series, with its model; problems where there is none that can be tried. */
  detectorOf(
    detectors: readonly DescribedDetector[],
    series: string,
  ): Promise<SettingProblems | { readonly kind: 'detector'; readonly detector: ScoringDetector }>;
  /** Scores values by the settings as they are, and as they would be. */
  whatIf(question: WhatIfQuestion, turn: ScoringTurn): Promise<WhatIfOutcome>;
}
