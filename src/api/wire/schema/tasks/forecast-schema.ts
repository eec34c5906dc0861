import Type from 'typebox';
import * as fields from './series-schema.ts';
import { TokenFields } from './token-schema.ts';

const Forecasting = {
  freq: fields.Freq,
  model: fields.ModelName,
  h: fields.positive('Horizon: steps to forecast.'),
  clean_ex_first: fields.CleanExFirst,
  level: fields.Levels(0),
  feature_contributions: Type.Optional(Type.Boolean()),
  feature_contributions_type: fields.ContributionsType,
  multivariate: fields.Multivariate,
  model_parameters: fields.ModelParameters,
  ...fields.Finetuning,
};

export const ForecastRequest = Type.Object({ series: fields.Series, ...Forecasting });
export type ForecastBody = Type.Static<typeof ForecastRequest>;

export const ForecastAnswer = Type.Object({
  ...TokenFields,
  mean: fields.Mean,
  intervals: fields.Intervals,
  weights_x: fields.Weights,
  feature_contributions: fields.Contributions,
});

export const CrossValidationRequest = Type.Object({
  series: fields.Series,
  ...Forecasting,
  n_windows: Type.Optional(
    fields.positive('Number of windows of `h` steps. The last window ends with the series. Default: 1.'),
  ),
  step_size: fields.StepSize,
  hist_exog: fields.HistExog,
  refit: Type.Optional(Type.Boolean()),
  full_history: Type.Optional(
    Type.Boolean({
      description: 'Forecast the whole history in-sample. `h`, `n_windows` and `step_size` are ignored.',
    }),
  ),
});
export type CrossValidationBody = Type.Static<typeof CrossValidationRequest>;

export const CrossValidationAnswer = Type.Object({
  ...TokenFields,
  mean: fields.Mean,
  sizes: fields.Sizes,
  idxs: fields.Positions,
  intervals: fields.Intervals,
  weights_x: fields.Weights,
  feature_contributions: fields.Contributions,
});
