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
}

const DetectionParameters = Type.Optional(
  Type.Unsafe<DetectionParameters | null>({
    type: ['object', 'null'],
    properties: {
      calibration: {
        type: ['string', 'null'],
        enum: ['plain', 'robust', null],
        description:
          'How residuals become an interval. `plain` (the default): one mean and one sample deviation, centred on the ' +
          'forecast. `robust`: outliers are clipped, the deviation grows along the horizon, and the interval is centred ' +
          'on the forecast plus the mean residual.',
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
  intervals: Intervals,
});
