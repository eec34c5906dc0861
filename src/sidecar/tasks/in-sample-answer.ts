import { type Calibration, deviationAt } from '../../detector/calibration/calibration.ts';
import { calibrateInSample } from '../../detector/calibration/in-sample-detection.ts';
import type { ExogenousEffects } from '../../forecast/exogenous-effects.ts';
import { forecastInSample, type InSampleForecast } from '../../forecast/in-sample.ts';
import { inSampleContext, inSampleHorizon } from '../models/frequency-profile.ts';
import type { ServedModel } from '../models/served-models.ts';
import { intervalsOfDeviations } from '../wire/interval-keys.ts';
import type { FieldProblem } from '../wire/problem.ts';
import type { HistoryBody } from '../wire/schema/series-schema.ts';
import { joined } from '../wire/wire-answer.ts';
import type { WireLevel } from '../wire/wire-types.ts';
import { contributionRows, effectsOf, meanWeights } from './exogenous-request.ts';
import { tooManyForecasts } from './request-limits.ts';
import { splitSeries } from './split-series.ts';

interface InSampleBody {
  readonly series: HistoryBody;
  readonly freq: string;
  readonly clean_ex_first?: boolean;
  readonly hist_exog?: readonly number[] | null;
}

export interface CalibratedForecast extends InSampleForecast {
  readonly calibration: Calibration;
  readonly effects: ExogenousEffects | null;
}

/** Problems of requests that exceed the limits. */
export function inSampleProblems({ series, freq }: InSampleBody): FieldProblem[] {
  return tooManyForecasts(Math.ceil(series.y.length / inSampleHorizon(freq)));
}

/** In-sample forecasts of every series with the calibration of their residuals. */
export async function forecastHistories(
  body: InSampleBody,
  { forecaster }: ServedModel,
  signal: AbortSignal,
): Promise<CalibratedForecast[]> {
  const settings = { h: inSampleHorizon(body.freq), context: inSampleContext(body.freq, forecaster.limits.context) };
  const effects = await effectsOf(body, 0, signal);
  const forecasts = await forecastInSample(splitSeries(body.series), { ...settings, effects }, { forecaster, signal });
  return forecasts.map((forecast, i) => {
    return { ...forecast, calibration: calibrateInSample(forecast), effects: effects?.[i] ?? null };
  });
}

/** The common fields of in-sample answers, one forecast per value of the request. */
export function inSampleAnswer(
  forecasts: readonly CalibratedForecast[],
  levels: readonly WireLevel[],
  { contributions }: { readonly contributions: boolean },
) {
  const mean = joined(forecasts.map(({ forecast }) => forecast));
  const sizes = forecasts.map(({ forecast }) => forecast.length);
  const effects = forecasts.flatMap(({ effects }) => (effects === null ? [] : [effects]));
  const weights = effects.map((of) => ({ weights: of.weights() }));
  const variables = weights[0]?.weights.length ?? 0;
  const added = () => effects.map((of) => ({ contributions: of.contributions() }));
  return {
    mean,
    sizes,
    intervals: intervalsOfDeviations(
      levels,
      forecasts.map(({ forecast, calibration }) => ({ forecast, deviation: deviationAt(calibration, 0, 0) })),
    ),
    weights_x: meanWeights(weights, variables, sizes),
    feature_contributions: contributions && variables > 0 ? contributionRows(added(), mean, variables) : null,
  };
}
