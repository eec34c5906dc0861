import Type from 'typebox';
import { EVENT_DIRECTIONS, EVENT_KINDS } from '../../../../records/anomaly-event.ts';
import { type ChosenHolidays, HOLIDAY_TYPES, PLACE } from '../../../../time/holidays/holiday-list.ts';
import { type SpecialDates, WEEKDAYS_OF_ISO } from '../../../../time/local-times.ts';
import { nullable } from '../query-fields.ts';
import * as fields from './series-schema.ts';
import { TokenFields } from './token-schema.ts';

/** Digits behind the point, up to six, that are not all 0. */
const FRACTION = [5, 4, 3, 2, 1, 0].map((more) => `${'0'.repeat(5 - more)}[1-9][0-9]{0,${more}}`).join('|');
/** A decimal number above 0, of up to six digits on each side of the point. */
const POSITIVE = `[1-9][0-9]{0,5}([.][0-9]{1,6})?|0[.](${FRACTION})`;

interface DetectionParameters {
  readonly calibration?: 'plain' | 'robust' | null;
  readonly calibration_size?: number | string | null;
  readonly grade?: boolean | null;
  readonly events?: boolean | null;
  readonly false_alarms?: string | null;
  readonly profile?: 'on' | 'off' | null;
  readonly timezone?: string | null;
  readonly holidays?: readonly (string | ChosenHolidays)[] | null;
  readonly special_days?: readonly SpecialDates[] | null;
}

const SPECIAL_DATES_MAX = 1_000;
/** Each may take long to resolve. */
const HOLIDAY_PLACES_MAX = 4;

const DetectionParameters = Type.Optional(
  Type.Unsafe<DetectionParameters | null>({
    type: ['object', 'null'],
    properties: {
      calibration: {
        type: ['string', 'null'],
        enum: ['plain', 'robust', null],
        description:
          'How residuals become an interval. `plain` (the default): one mean and one sample deviation, centred on ' +
          'the forecast. `robust`: outliers are clipped, the deviation grows along the horizon, and the interval is ' +
          'centred on the forecast plus the mean residual.',
      },
      grade: {
        type: ['boolean', 'null'],
        description:
          'Adds `grade`, `severity` and `alarm` to the answer, as the stream would have them for this history.',
      },
      events: {
        type: ['boolean', 'null'],
        description:
          'Adds `events` to the answer: what the alarms of this history are, as far as they reach into the scored ' +
          'values. The stream writes the same for this history.',
      },
      false_alarms: {
        type: ['string', 'null'],
        pattern: `^(off|(${POSITIVE})/(hour|day|week|month|year))$`,
        description:
          'Accepted false alarms of a series, such as `1/week`; by default what `level` leaves, or ' +
          'one a week, between 1 in 50,000 and 1 in 1,000 values.',
      },
      profile: {
        type: ['string', 'null'],
        enum: ['on', 'off', null],
        description:
          'Whether the seasonal profile of hours and weekdays applies to grade and events, as in the stream. ' +
          'It needs the times of the series (`start_datetime`). Default: `on`.',
      },
      timezone: {
        type: ['string', 'null'],
        description: 'Time zone of the hours and weekdays of the series: `Europe/Berlin`. Default: `UTC`.',
      },
      holidays: {
        type: ['array', 'null'],
        maxItems: HOLIDAY_PLACES_MAX,
        // A place, or a place with what of it is chosen.
        items: {
          type: ['string', 'object'],
          pattern: PLACE.source,
          required: ['place'],
          additionalProperties: false,
          properties: {
            place: { type: 'string', pattern: PLACE.source },
            types: { type: ['array', 'null'], minItems: 1, items: { type: 'string', enum: [...HOLIDAY_TYPES] } },
            like: { type: ['string', 'null'], enum: [...WEEKDAYS_OF_ISO, null] },
          },
        },
        description:
          'Places whose public holidays resemble their day of rest: `DE`, `DE-BY-KATH`, or `{"place": "SE", "types": ' +
          '["public", "bank"], "like": "sun"}`. `GET /v1/holidays` lists them. `special_days` take precedence.',
      },
      special_days: {
        type: ['array', 'null'],
        maxItems: SPECIAL_DATES_MAX,
        items: {
          type: 'object',
          required: ['dates', 'like'],
          properties: {
            dates: {
              type: 'array',
              minItems: 1,
              maxItems: SPECIAL_DATES_MAX,
              items: { type: 'string', pattern: '^([0-9]{4}-)?[0-9]{2}-[0-9]{2}$' },
            },
            like: { type: 'string', enum: [...WEEKDAYS_OF_ISO] },
          },
        },
        description:
          'Days that resemble another weekday than their own, in local time: dates (`2026-12-24`, or `12-24` for ' +
          'every year) and the weekday. Each date has one entry; one with a year takes precedence.',
      },
      calibration_size: {
        type: ['integer', 'string', 'null'],
        exclusiveMinimum: 0,
        pattern: '^all$',
        description: 'Number of the latest residuals before the window that calibrate the score. Default: `all`.',
      },
    },
  }),
);

export const OnlineDetectionRequest = Type.Object({
  series: fields.Series,
  freq: fields.Freq,
  model: fields.ModelName,
  h: fields.positive('Horizon: steps of one forecast.'),
  detection_size: fields.positive('Values at the end of each series that are scored.'),
  step_size: fields.StepSize,
  threshold_method: Type.Optional(Type.Enum(['univariate', 'multivariate'])),
  level: fields.Level,
  clean_ex_first: fields.CleanExFirst,
  hist_exog: fields.HistExog,
  refit: Type.Optional(Type.Boolean()),
  multivariate: fields.Multivariate,
  model_parameters: DetectionParameters,
  ...fields.Finetuning,
});

export type OnlineDetectionBody = Type.Static<typeof OnlineDetectionRequest>;

const Place = (description: string) => Type.Integer({ minimum: 0, description });
const NumberOrNull = (description: string) => nullable(Type.Number(), description);

const DetectionEvents = Type.Array(
  Type.Object({
    series: nullable(
      Type.Integer({ minimum: 0 }),
      'Index of the series in `sizes`; null for all of them together (`multivariate`).',
    ),
    kind: Type.Enum(EVENT_KINDS),
    direction: Type.Enum(EVENT_DIRECTIONS),
    open: Type.Boolean({ description: 'It is open at the end of the history.' }),
    start: Place('Position of its first deviating value in the series, from 0.'),
    first_alarm: Place('Position of its first alarm.'),
    peak: Place('Position of the row farthest from what was expected.'),
    last_alarm: Place('Position of its last alarm so far.'),
    end: Place('Position of its last deviating value so far.'),
    alarms: Place('Alarms from start to end.'),
    severity: NumberOrNull('The highest of its alarms.'),
    grade: NumberOrNull('The highest of its alarms.'),
    value: NumberOrNull('At the peak; of the most unusual series if all are scored together.'),
    expected: NumberOrNull('Forecast of that value.'),
    summary: Type.String({ description: 'One sentence: what was seen, and what was expected.' }),
    unusual: nullable(Type.String(), 'How rare the peak is; null if it is not.'),
    members: Type.Array(Type.Object({ series: Type.Integer({ minimum: 0 }), share: Type.Number() }), {
      description: 'Of `multivariate`, the largest share first; otherwise empty.',
    }),
  }),
);

export const OnlineDetectionAnswer = Type.Object({
  ...TokenFields,
  mean: fields.Mean,
  sizes: fields.Sizes,
  idxs: fields.Positions,
  anomaly: fields.AnomalyFlags,
  anomaly_score: fields.Scores,
  accumulated_anomaly_score: Type.Optional(fields.Scores),
  grade: Type.Optional(fields.Scores),
  severity: Type.Optional(fields.Scores),
  alarm: Type.Optional(fields.AnomalyFlags),
  events: Type.Optional(DetectionEvents),
  profile: Type.Optional(
    Type.Boolean({
      description:
        'With grade or events: whether the seasonal profile of hours and weekdays applied. It needs `start_datetime` ' +
        'and a step of 12 hours at most; for `multivariate` the same start for all series.',
    }),
  ),
  intervals: fields.Intervals,
});
