import { BACKTEST_FORECASTS_MAX } from '../../../forecasting/exogenous/exogenous-forecast.ts';
import { forecastsPerPoint, type MultiResolutionSettings } from '../../../forecasting/multi-resolution.ts';
import { outputsOfLevels, tokensOf } from '../../accounts/token-count.ts';
import { aggregationOf, type FrequencyProfile, frequencyProfile } from '../../models/frequency-profile.ts';
import { inputSettings, type ServedModels } from '../../models/served-models.ts';
import { distinctLevels, probabilitiesOf } from '../../wire/interval-keys.ts';
import { type FieldProblem, fieldProblem } from '../../wire/problem.ts';
import type { CrossValidationBody, ForecastBody } from '../../wire/schema/forecast-schema.ts';
import type { ContributionKind } from '../../wire/schema/series-schema.ts';
import type { WireLevel } from '../../wire/wire-types.ts';
import { contributionKind, contributionProblems } from '../series/attribution.ts';
import { answerTooLong, intervalProblems, tuningProblems } from '../series/request-limits.ts';
import { horizonWarning, readSeriesRequest, type SeriesQuestion } from '../series/series-question.ts';

/** A checked request for forecasts at cutoffs. */
export interface ForecastQuestion extends SeriesQuestion {
  readonly settings: MultiResolutionSettings;
  readonly levels: readonly WireLevel[];
  /** The contributions of exogenous variables that are requested; null: none. */
  readonly contributions: ContributionKind | null;
  readonly warning: string | null;
}

/** Throws an HttpProblem for an invalid request. */
export function readForecast(body: ForecastBody, models: ServedModels): ForecastQuestion {
  const { series, h } = body;
  const frequency = frequencyProfile(body.freq);
  const levels = distinctLevels(body.level);
  const outputs = outputsOfLevels(levels.length);
  const predicted = series.sizes.length * h;
  const future = (series.X_future?.length ?? 0) * predicted;
  const problems = [
    ...tuningProblems(body),
    ...contributionProblems(body),
    ...futureProblems(body),
    ...intervalProblems(levels.length, series.sizes),
    ...answerTooLong(predicted * outputs),
  ];
  const load = { forecasts: series.sizes.length * forecastsOfOne(body, frequency), h };
  const read = readSeriesRequest(body, { models, frequency, problems, load });
  return { ...read, ...horizonFields(body, read), tokens: tokensOf(body, { predicted, outputs, future }) };
}

/** The fields that forecasts and windows of cross-validation share. */
export function horizonFields(
  body: ForecastBody | CrossValidationBody,
  read: Pick<SeriesQuestion, 'model' | 'frequency' | 'offsets'>,
) {
  const { h, level } = body;
  const levels = distinctLevels(level);
  const settings = horizonSettings(h, probabilitiesOf(levels), read);
  return { levels, settings, contributions: contributionKind(body), warning: horizonWarning(h, read) };
}

/** The settings of forecasts of a horizon. */
export function horizonSettings(
  h: number,
  probabilities: readonly number[],
  { model, frequency, offsets }: Pick<SeriesQuestion, 'model' | 'frequency' | 'offsets'>,
): MultiResolutionSettings {
  const { context, aggregation } = inputSettings(model, frequency);
  // A group is forecast once, without temporal aggregation.
  return { h, context, aggregation: offsets === undefined ? aggregation : null, probabilities };
}

/** The most forecasts that one cutoff needs, with those of the backtests of exogenous variables. */
export function forecastsOfOne(
  {
    h,
    level,
    series,
  }: Pick<ForecastBody | CrossValidationBody, 'h' | 'series'> & {
    readonly level?: readonly unknown[] | null | undefined;
  },
  frequency: FrequencyProfile,
) {
  const context = Number.POSITIVE_INFINITY;
  const settings = { h, context, aggregation: aggregationOf(frequency, context) };
  const trials = series.X && series.X.length > 0 ? BACKTEST_FORECASTS_MAX : 0;
  return trials + forecastsPerPoint(settings, (level?.length ?? 0) > 0);
}

/** Problems of variables over the horizon. */
export function futureProblems({
  series: { sizes, X_future: future },
  h,
}: Pick<ForecastBody, 'series' | 'h'>): FieldProblem[] {
  const values = sizes.length * h;
  return (future ?? []).flatMap((column, i) => {
    if (column.length === values) return [];
    const text = `a variable has ${column.length} values, but ${sizes.length} series over h ${h} make ${values}`;
    return [fieldProblem(['body', 'series', 'X_future', i], text)];
  });
}
