import Type from 'typebox';
import * as fields from './series-schema.ts';
import { TokenFields } from './token-schema.ts';

const InSample = {
  series: fields.Series,
  freq: fields.Freq,
  model: fields.ModelName,
  clean_ex_first: fields.CleanExFirst,
  finetuned_model_id: fields.FinetunedModelId,
  hist_exog: fields.HistExog,
  multivariate: fields.Multivariate,
  model_parameters: fields.ModelParameters,
};

const LEVEL_MIN_OF_HISTORIC = 10;

export const InSampleDetectionRequest = Type.Object({ ...InSample, level: fields.Level });

export const HistoricForecastRequest = Type.Object({
  ...InSample,
  level: fields.Levels(LEVEL_MIN_OF_HISTORIC),
  feature_contributions: Type.Optional(Type.Boolean()),
});

const InSampleForecast = {
  ...TokenFields,
  mean: fields.Mean,
  sizes: fields.Sizes,
  intervals: fields.Intervals,
  weights_x: fields.Weights,
  feature_contributions: fields.Contributions,
};

export const InSampleDetectionAnswer = Type.Object({ ...InSampleForecast, anomaly: fields.AnomalyFlags });
export const HistoricForecastAnswer = Type.Object(InSampleForecast);
