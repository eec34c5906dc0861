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
  readonly calibration_size?: number | string | null;
}

const DetectionParameters = Type.Optional(
  Type.Unsafe<DetectionParameters | null>({
    type: ['object', 'null'],
    properties: {
      calibration_size: {
        type: ['integer', 'string', 'null'],
        exclusiveMinimum: 0,
        pattern: '^all$',
        description: 'How many of the newest residuals before the window calibrate: `all` unless said otherwise.',
      },
    },
  }),
);

export const OnlineDetectionRequest = Type.Object({
  series: Series,
  freq: Freq,
  model: ModelName,
  h: positive('Steps that one forecast covers.'),
  detection_size: positive('How many values at the end of each series are judged.'),
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
