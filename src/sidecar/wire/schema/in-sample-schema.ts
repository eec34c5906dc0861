import Type from 'typebox';
import {
  AnomalyFlags,
  CleanExFirst,
  Contributions,
  FinetunedModelId,
  Freq,
  Intervals,
  Level,
  Levels,
  Mean,
  ModelName,
  Series,
  Sizes,
  TokenFields,
  Weights,
} from './series-schema.ts';

const InSample = {
  series: Series,
  freq: Freq,
  model: ModelName,
  clean_ex_first: CleanExFirst,
  finetuned_model_id: FinetunedModelId,
  multivariate: Type.Optional(Type.Boolean({ description: 'Ignored: histories are forecast one by one.' })),
};

const LEVEL_MIN_OF_HISTORIC = 10;

export const InSampleDetectionRequest = Type.Object({ ...InSample, level: Level });

export const HistoricForecastRequest = Type.Object({
  ...InSample,
  level: Levels(LEVEL_MIN_OF_HISTORIC),
  feature_contributions: Type.Optional(Type.Boolean()),
});

const InSampleForecast = {
  ...TokenFields,
  mean: Mean,
  sizes: Sizes,
  intervals: Intervals,
  weights_x: Weights,
  feature_contributions: Contributions,
};

export const InSampleDetectionAnswer = Type.Object({ ...InSampleForecast, anomaly: AnomalyFlags });
export const HistoricForecastAnswer = Type.Object(InSampleForecast);
