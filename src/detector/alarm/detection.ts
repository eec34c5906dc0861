import type { Unusualness, Verdict } from './alarm.ts';

/**
 * - `warming-up`: no forecast yet, the context is too short
 * - `not-forecasted`: no cutoff covers this position, or nothing was observed in its context
 * - `calibrating`: forecasted, but fewer than 6 detection windows of forecasted samples came before; never flagged
 * - `scored`
 */
export type DetectionState = 'warming-up' | 'not-forecasted' | 'calibrating' | 'scored';

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
