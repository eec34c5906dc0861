import type { DetectionState } from '../../records/score-record.ts';
import type { Unusualness, Verdict } from './alarm.ts';

/** The result of one observation. Numbers that do not exist are NaN. */
export interface Detection extends Verdict {
  readonly state: DetectionState;
  readonly position: number;
  /** The detection window is [windowStart, windowStart + detectionSize). */
  readonly windowStart: number;
  readonly forecast: number;
  readonly lo: number;
  readonly hi: number;
  readonly score: number;
  readonly anomaly: boolean;
  /** Input of the verdict; null without a value, a forecast or a target rate. */
  readonly unusual: Unusualness | null;
}
