import type { Frequency } from '../../time/frequency.ts';
import type { LocalCalendar } from '../../time/local-calendar.ts';
import type { Aggregate, CounterReading } from './points.ts';

/**
 * How anomalies are distinguished from normal observations: each series alone, or all series of a group together at
 * one time step.
 */
type ThresholdMethod = 'univariate' | 'multivariate';

/** The part of the past that calibrates: every forecasted position, or the most recent N of them. */
export type CalibrationSize = 'all' | number;

/**
 * How residuals become an interval.
 * - `plain`: one mean and one sample deviation; the interval is centred on the forecast
 * - `robust`: outliers are clipped, the variance grows along the horizon, residuals of forecasts from short contexts
 *   weigh less;
 *   the interval is centred on the forecast plus the mean residual, so that score and flag agree
 */
export type CalibrationMethod = 'plain' | 'robust';

/** Calendar and step of a seasonal profile. */
export interface ProfileSettings {
  readonly calendar: LocalCalendar;
  /** Mean step of the series. */
  readonly stepMs: number;
}

/**
 * What one detection needs to know. Lengths are in observations (steps of `freq`). In the stream `detectionSize` is a
 * multiple of `stepSize` and `h <= detectionSize`, so that the cutoffs of all windows lie on one grid.
 */
export interface DetectionSettings {
  /** Forecast horizon: how many observations one forecast covers. */
  readonly h: number;
  /** Length of the detection window. */
  readonly detectionSize: number;
  /** Distance of one cutoff from the next. */
  readonly stepSize: number;
  /** Confidence level in percent, 0 <= level < 100. */
  readonly level: number;
  readonly thresholdMethod: ThresholdMethod;
  readonly calibration: CalibrationMethod;
  readonly calibrationSize: CalibrationSize;
  /** Accepted false alarms (episodes) a row, above 0; null: no grade, no severity and no alarm. */
  readonly alarmRate: number | null;
  /** Observations before a cutoff that the model may see. */
  readonly context: number;
  /** The seasonal profile of hours and weekdays, by this clock; left out: none. */
  readonly profile?: ProfileSettings | null;
  /** Omitted: values are watched as they are sent. */
  readonly as?: CounterReading;
}

/** Detection on a stream: the same, with what event time adds. */
export interface StreamDetectionSettings extends DetectionSettings {
  readonly freq: Frequency;
  /** A gap of more missing steps than this makes the series start over at position 0. */
  readonly gapLimit: number;
  /** Observations of a series that are further apart, in milliseconds, never share a time step. */
  readonly jitterMs: number;
  /** Time that a record waits for older ones of its series, in milliseconds of event time; 0: not at all. */
  readonly latenessMs: number;
  /** A series without an observation for more steps than this is silent; null: silence is not reported. */
  readonly silenceAfter: number | null;
  /** A series or group without an observation for longer, in milliseconds of event time, is forgotten; null: never. */
  readonly idleMs: number | null;
  /** Time steps that a group waits for a missing member before it is scored without it. */
  readonly grace: number;
  /** Omitted: a time step has one point, and others of it are duplicates. */
  readonly aggregate?: Aggregate;
}
