import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { DescribedDetector } from './operations.ts';

interface SettingProblems {
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

export type ChangedSettings = Readonly<Record<string, string | number>>;

export interface WhatIfQuestion {
  /** Series of one detector: all of one group, or such that are scored alone. */
  readonly past: readonly KeptValues[];
  /** Id of their group; null if they have none. */
  readonly group: string | null;
  /** The detectors file that workers score by. */
  readonly detectorsText: string;
  readonly detector: ScoringDetector;
  /** Differences from the file; each one is tried. */
  readonly alternatives: readonly ChangedSettings[];
  /** Earlier values calibrate only: their events and alarms do not count. null: all count. */
  readonly fromMs: number | null;
}

export interface ScoringDetector {
  readonly name: string;
  /** Name of the model, as the detectors file has it. */
  readonly model: string;
  /** Name of the pretrained model: the same, or the one that a fine-tuned model was made from. */
  readonly pretrained: string;
  readonly weights: Uint8Array | null;
}

export interface RaisedEvents {
  /** Newest revisions. */
  readonly events: readonly AnomalyEvent[];
  readonly alarms: number;
  /** From the first score of a series, or group, to its last, summed over all of them. */
  readonly weeks: number;
  /** The first score that counts; null without one. */
  readonly scoredFromMs: number | null;
}

export interface ScoredAlternative extends RaisedEvents {
  /** The detectors file with the changes. */
  readonly text: string;
}

export type WhatIfOutcome =
  | SettingProblems
  | {
      readonly kind: 'scored';
      readonly observations: number;
      /** In the order of the question. */
      readonly alternatives: readonly ScoredAlternative[];
    };

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
  /** Scores the same values by each of several settings. */
  whatIf(question: WhatIfQuestion, turn: ScoringTurn): Promise<WhatIfOutcome>;
}
