import type { DetectionState } from '../../records/score-record.ts';
import type { Unusualness, Verdict } from './alarm.ts';

/** What one observation turned out to be. Numbers that do not exist are NaN. */
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
  /** What the verdict is on; null without a value, a forecast or a promise. */
  readonly unusual: Unusualness | null;
}
