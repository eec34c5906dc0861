import Type from 'typebox';
import {
  AnomalyFlags,
  CleanExFirst,
  Finetuning,
  Freq,
  HistExog,
  Intervals,
  Level,
  Mean,
  ModelName,
  Multivariate,
  Positions,
  positive,
  Scores,
  Series,
  Sizes,
  StepSize,
  TokenFields,
} from './series-schema.ts';

interface DetectionParameters {
  readonly calibration?: 'plain' | 'robust' | null;
  readonly calibration_size?: number | string | null;
  readonly grade?: boolean | null;
  readonly false_alarms?: string | null;
}

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
      false_alarms: {
        type: ['string', 'null'],
        pattern: '^(off|(?=[0-9.]*[1-9])[0-9]{1,6}([.][0-9]{1,6})?/(hour|day|week|month|year))$',
        description:
          'Accepted false alarms of a series, such as `1/week`; unless said otherwise what `level` leaves, or the ' +
          'rarer of one a week and 1 in 1,000 values.',
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
  series: Series,
  freq: Freq,
  model: ModelName,
  h: positive('Horizon: steps of one forecast.'),
  detection_size: positive('Values at the end of each series that are scored.'),
  step_size: StepSize,
  threshold_method: Type.Optional(Type.Enum(['univariate', 'multivariate'])),
  level: Level,
  clean_ex_first: CleanExFirst,
  hist_exog: HistExog,
  refit: Type.Optional(Type.Boolean()),
  multivariate: Multivariate,
  model_parameters: DetectionParameters,
  ...Finetuning,
});

export type OnlineDetectionBody = Type.Static<typeof OnlineDetectionRequest>;

export const OnlineDetectionAnswer = Type.Object({
  ...TokenFields,
  mean: Mean,
  sizes: Sizes,
  idxs: Positions,
  anomaly: AnomalyFlags,
  anomaly_score: Scores,
  accumulated_anomaly_score: Type.Optional(Scores),
  grade: Type.Optional(Scores),
  severity: Type.Optional(Scores),
  alarm: Type.Optional(AnomalyFlags),
  intervals: Intervals,
});
