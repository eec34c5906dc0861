import { FALSE_ALARMS_EXPECTED, type FalseAlarms, parseFalseAlarms } from '../../detection/alarm/false-alarms.ts';
import { AGGREGATES, COUNTER_READINGS } from '../../detection/calibration/points.ts';
import { CALIBRATION_WINDOWS_MIN } from '../../detection/calibration/threshold.ts';
import { CONTEXT_MIN } from '../../forecasting/context-length.ts';
import { KNOWN_UNITS } from '../../records/text/quantity-text.ts';
import { type Frequency, parseFrequency } from '../../time/frequency.ts';
import {
  boolean,
  durationMs,
  entryName,
  integerFrom,
  numberBelow,
  oneOf,
  recordPath,
  seriesText,
  text,
  textMatching,
  textOf,
  wordOr,
} from '../schema/kinds.ts';
import { defaulted, oneOrMore, optional, required, type SectionFields } from '../schema/schema.ts';
import { timeZone } from '../schema/times.ts';
import { eventRules, labels } from './event-rules-schema.ts';
import { onOrOff, profileKeys } from './profile-keys.ts';

const CONTROL = '\\x00-\\x1f\\x7f-\\x9f';
const unitText = textMatching(
  'a unit of 1 to 24 characters, such as bytes or req/s',
  new RegExp(`^[^${CONTROL}]*[^\\s${CONTROL}][^${CONTROL}]*$`),
  { maxLength: 24 },
);
/** Upper bound of lengths in observations: a typing error must not fill the memory. */
const LENGTH_MAX = 1_000_000;
/** The open window of a series must fit into one record of the changelog. */
const DETECTION_SIZE_MAX = 10_000;
const GRACE_MAX = 1_000;
/** Records that wait are part of the state. */
export const LATENESS_STEPS_MAX = 64;
/** Default calibration size in detection windows: twice the minimum. */
export const CALIBRATION_WINDOWS_DEFAULT = 2 * CALIBRATION_WINDOWS_MIN;
export const SILENCE_STEPS_MIN = 5;
export const SILENCE_MS_MIN = 300_000;
/** Default jitter: a share of a step. */
export const JITTER_STEPS = 0.5;

/** The interval where no level is written; then it does not decide how many alarms are accepted. */
export const LEVEL_DEFAULT = 99;
export const DETECTOR_DEFAULTS = {
  thresholdMethod: 'univariate',
  model: 'tsmodel-1-detection',
  calibration: 'robust',
  latenessMs: 0,
  grace: 1,
} as const;

export const length = integerFrom(1, LENGTH_MAX);
const windowLength = integerFrom(1, DETECTION_SIZE_MAX);

/** Kinds of the keys of a detector that are flags, too. */
export const detectorKinds = {
  model: textMatching('1 to 36 letters, digits, dots, dashes or underscores', /^[a-zA-Z0-9._-]{1,36}$/),
  freq: textOf<Frequency>(
    'a frequency with a grid such as s, 5min, h, D, W-SUN, MS or B',
    (alias) => parseFrequency(alias) ?? undefined,
  ),
  windowLength,
  level: numberBelow(0, 100),
  thresholdMethod: oneOf('univariate', 'multivariate'),
  calibration: oneOf('plain', 'robust'),
  calibrationSize: wordOr('all', length),
  falseAlarms: textOf<FalseAlarms>(FALSE_ALARMS_EXPECTED, parseFalseAlarms),
  timezone: timeZone,
  profile: onOrOff,
  aggregate: oneOf(...AGGREGATES),
  as: oneOf(...COUNTER_READINGS),
};

export const detectorKeys = {
  name: required(entryName, 'Unique; included in every score.'),
  series: required(
    oneOrMore(seriesText),
    'Globs over the ids of series: * is any run of characters, ? one. Or matchers of their labels: ' +
      '{__name__="node_load1", job=~"web-.*"}. Quote them.',
  ),
  freq: required(detectorKinds.freq, 'Step of the series, a pandas alias: s, 5min, h, D, W-SUN, MS, B.'),
  aggregate: optional(
    detectorKinds.aggregate,
    'How several points of a series in a step become one value. Default: the first is used, the others are duplicates.',
  ),
  as: optional(
    detectorKinds.as,
    'Values are a counter: scores its increase per second (rate) or its increase. A fall is a reset to 0.',
  ),
  h: required(windowLength, "Observations that one forecast covers, at most `detection_size` and the model's horizon."),
  detectionSize: required(windowLength, 'Length of a detection window in observations, a multiple of `step_size`.'),
  stepSize: optional(windowLength, 'Observations between forecasts. Default: `h`.'),
  level: optional(
    detectorKinds.level,
    `Confidence level of the interval in percent, for normally distributed errors. Most series have longer ` +
      `tails: at 99, some 3 of 100 values are outside. Default: ${LEVEL_DEFAULT}.`,
  ),
  thresholdMethod: defaulted(
    detectorKinds.thresholdMethod,
    DETECTOR_DEFAULTS.thresholdMethod,
    'Each series alone, or all series of a `group` together at each time step.',
  ),
  group: optional(
    recordPath,
    "Path of the group's id in the record; it must be the key. Multivariate requires this or `by`.",
  ),
  by: optional(oneOrMore(text), 'Series with the same values of these labels, or without them, form a group.'),
  model: defaulted(
    detectorKinds.model,
    DETECTOR_DEFAULTS.model,
    'A model of the service, or the id of a fine-tuned one.',
  ),
  calibration: defaulted(
    detectorKinds.calibration,
    DETECTOR_DEFAULTS.calibration,
    'How residuals become an interval. plain: one mean and one sample deviation.',
  ),
  calibrationSize: optional(
    detectorKinds.calibrationSize,
    `Most recent forecasted observations that calibrate, at least ${CALIBRATION_WINDOWS_MIN} x \`detection_size\`; ` +
      `or all. Default: ${CALIBRATION_WINDOWS_DEFAULT} x \`detection_size\`.`,
  ),
  falseAlarms: optional(
    detectorKinds.falseAlarms,
    'Accepted false alarms of each series: a rate such as 2/day, 1/week or 1/month, or off. Default: 1/week, between ' +
      '1 in 50,000 and 1 in 1,000 observations; if only `level` is set, 100 - `level` percent.',
  ),
  context: optional(
    integerFrom(CONTEXT_MIN, LENGTH_MAX),
    'Past observations that a forecast may use. Default: as many as the model accepts.',
  ),
  gapLimit: optional(
    integerFrom(0, LENGTH_MAX),
    'Missing observations that are filled; after a longer gap the series starts over. Default: `context`.',
  ),
  jitterMs: optional(durationMs, 'Observations further apart never share a time step. Default: half a step.', 'jitter'),
  latenessMs: defaulted(
    durationMs,
    '0s',
    `How long records wait, in event time, for older ones of their series, and steps with \`aggregate\` for their ` +
      `points; at most ${LATENESS_STEPS_MAX} steps.`,
    'allowed_lateness',
  ),
  silenceAfter: optional(
    wordOr('off', length),
    `Steps after which a series without an observation is silent; or off. Default: ${SILENCE_STEPS_MIN}, at least 5 ` +
      'minutes; off for groups.',
  ),
  idleMs: optional(
    wordOr('off', durationMs),
    'A series or group without an observation for longer, in event time, is removed; or off. Default: twice as ' +
      'long as `gap_limit`, at least 7d.',
    'idle_limit',
  ),
  grace: defaulted(
    integerFrom(0, GRACE_MAX),
    DETECTOR_DEFAULTS.grace,
    'Time steps to wait for a missing member of a group.',
  ),
  ...profileKeys,
  spread: defaulted(
    boolean,
    true,
    'The first window of a new series, or group, closes at a step that its id decides, so that forecasts of series ' +
      'that begin together do not all fall due at once; false: at the step `detection_size`.',
  ),
  events: defaulted(eventRules, {}, 'Which alarms become events, in event time. Default: all of them.'),
  labels: defaulted(labels, {}, 'Included in every event, for routes of alerts.'),
  unit: optional(
    unitText,
    `Unit of the values, only for display: ${KNOWN_UNITS.join(', ')}; any other text is shown after the number.`,
  ),
};

type AllFields = SectionFields<typeof detectorKeys>;

/** A detector as written; undefined if missing, or invalid. */
export type DetectorFields = Pick<AllFields, 'name' | 'series' | 'freq' | 'h' | 'detectionSize'> & {
  readonly [K in keyof AllFields]?: AllFields[K] | undefined;
};
