import { BACKTEST_FORECASTS_MAX } from '../../../forecasting/exogenous/exogenous-forecast.ts';
import { forecastsPerPoint, type MultiResolutionSettings } from '../../../forecasting/multi-resolution.ts';
import { outputsOfLevels, tokensOf } from '../../accounts/token-count.ts';
import { aggregationOf, type FrequencyProfile } from '../../models/frequency-profile.ts';
import { inputSettings, type ServedModels } from '../../models/served-models.ts';
import type { BodyProblems } from '../../wire/problem.ts';
import type { CrossValidationBody, ForecastBody } from '../../wire/schema/tasks/forecast-schema.ts';
import type { ContributionKind } from '../../wire/schema/tasks/series-schema.ts';
import { distinctLevels, probabilitiesOf, type WireLevel } from '../../wire/wire-answer.ts';
import { readContributions } from '../series/attribution.ts';
import { checkAnswerSize, checkIntervals, checkTuningSteps } from '../series/request-limits.ts';
import { horizonWarning, RequestReader, type SeriesQuestion } from '../series/request-reader.ts';

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
  const reader = new RequestReader(body, models);
  const { problems, frequency } = reader;
  const levels = distinctLevels(body.level);
  const outputs = outputsOfLevels(levels.length);
  const predicted = series.sizes.length * h;
  const future = (series.X_future?.length ?? 0) * predicted;
  checkTuningSteps(problems, body);
  const contributions = readContributions(problems, body);
  checkFuture(problems, body);
  checkIntervals(problems, levels.length, series.sizes);
  checkAnswerSize(problems, predicted * outputs);
  const read = reader.question({ forecasts: series.sizes.length * forecastsOfOne(body, frequency), h });
  const tokens = tokensOf(body, { predicted, outputs, future });
  return { ...read, ...horizonFields(h, levels, read), contributions, tokens };
}

/** The fields that forecasts and windows of cross-validation share. */
export function horizonFields(
  h: number,
  levels: readonly WireLevel[],
  read: Pick<SeriesQuestion, 'model' | 'frequency' | 'offsets'>,
) {
  const settings = horizonSettings(h, probabilitiesOf(levels), read);
  return { levels, settings, warning: horizonWarning(h, read) };
}

export function horizonSettings(
  h: number,
  probabilities: readonly number[],
  { model, frequency, offsets }: Pick<SeriesQuestion, 'model' | 'frequency' | 'offsets'>,
): MultiResolutionSettings {
  const { context, aggregation } = inputSettings(model, frequency);
  // A group is forecast once, without temporal aggregation.
  return { h, context, aggregation: offsets === undefined ? aggregation : null, year: frequency.year, probabilities };
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
  const settings = { h, context, aggregation: aggregationOf(frequency, context), year: frequency.year };
  const trials = series.X && series.X.length > 0 ? BACKTEST_FORECASTS_MAX : 0;
  return trials + forecastsPerPoint(settings, (level?.length ?? 0) > 0);
}

/** Refuses variables that do not cover the horizon. */
export function checkFuture(
  problems: BodyProblems,
  { series: { sizes, X_future: future }, h }: Pick<ForecastBody, 'series' | 'h'>,
): void {
  const values = sizes.length * h;
  for (const [i, column] of (future ?? []).entries()) {
    if (column.length === values) continue;
    const text = `a variable has ${column.length} values, but ${sizes.length} series over h ${h} make ${values}`;
    problems.add(['series', 'X_future', i], text);
  }
}
