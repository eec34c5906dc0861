import Type from 'typebox';
import {
  CleanExFirst,
  Contributions,
  Finetuning,
  Freq,
  HistExog,
  Intervals,
  Levels,
  Mean,
  ModelName,
  ModelParameters,
  Multivariate,
  Positions,
  positive,
  Series,
  SeriesWithFuture,
  Sizes,
  StepSize,
  TokenFields,
  Weights,
} from './series-schema.ts';

const Forecasting = {
  freq: Freq,
  model: ModelName,
  h: positive('Horizon: steps to forecast.'),
  clean_ex_first: CleanExFirst,
  level: Levels(0),
  feature_contributions: Type.Optional(Type.Boolean()),
  multivariate: Multivariate,
  model_parameters: ModelParameters,
  ...Finetuning,
};

export const ForecastRequest = Type.Object({ series: SeriesWithFuture, ...Forecasting });
export type ForecastBody = Type.Static<typeof ForecastRequest>;

export const ForecastAnswer = Type.Object({
  ...TokenFields,
  mean: Mean,
  intervals: Intervals,
  weights_x: Weights,
  feature_contributions: Contributions,
});

export const CrossValidationRequest = Type.Object({
  series: Series,
  ...Forecasting,
  n_windows: Type.Optional(
    positive('Number of windows of `h` steps. The last window ends with the series. Default: 1.'),
  ),
  step_size: StepSize,
  hist_exog: HistExog,
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
  mean: Mean,
  sizes: Sizes,
  idxs: Positions,
  intervals: Intervals,
  weights_x: Weights,
  feature_contributions: Contributions,
});
