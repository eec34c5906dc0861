import type { Static } from 'typebox';
import { flagInSample } from '../../detector/calibration/in-sample-detection.ts';
import type { Work } from '../accounts/metering.ts';
import { OUTPUTS_OF_DETECTION, outputsOfLevels, tokensOf } from '../accounts/token-count.ts';
import type { ServedModels } from '../models/served-models.ts';
import { DEFAULT_LEVEL, distinctLevels } from '../wire/interval-keys.ts';
import { invalidRequest } from '../wire/problem.ts';
import type {
  HistoricForecastAnswer,
  HistoricForecastRequest,
  InSampleDetectionAnswer,
  InSampleDetectionRequest,
} from '../wire/schema/in-sample-schema.ts';
import { flagsOf } from '../wire/wire-answer.ts';
import { forecastHistories, inSampleAnswer, inSampleProblems } from './in-sample-answer.ts';
import { modelOf, type SeriesRequest, seriesProblems } from './series-request.ts';

/** Throws an HttpProblem for an invalid request. */
export function inSampleDetectionWork(body: Static<typeof InSampleDetectionRequest>, models: ServedModels): Work {
  const model = modelFor(models, body);
  const level = body.level ?? DEFAULT_LEVEL;
  const tokens = tokensOf(body, { predicted: body.series.y.length, outputs: OUTPUTS_OF_DETECTION });
  const run = async (signal: AbortSignal) => {
    const forecasts = await forecastHistories(body, model, signal);
    const answer = inSampleAnswer(forecasts, [level], { contributions: false });
    const anomaly = flagsOf(forecasts.map((forecast) => flagInSample(forecast, forecast.calibration, level.value)));
    return { ...tokens, ...answer, anomaly } satisfies Static<typeof InSampleDetectionAnswer>;
  };
  return { tokens, run };
}

/** Throws an HttpProblem for an invalid request. */
export function historicForecastWork(body: Static<typeof HistoricForecastRequest>, models: ServedModels): Work {
  const model = modelFor(models, body);
  const levels = distinctLevels(body.level);
  const tokens = tokensOf(body, { predicted: body.series.y.length, outputs: outputsOfLevels(levels.length) });
  const run = async (signal: AbortSignal) => {
    const forecasts = await forecastHistories(body, model, signal);
    const answer = inSampleAnswer(forecasts, levels, { contributions: body.feature_contributions ?? false });
    return { ...tokens, ...answer } satisfies Static<typeof HistoricForecastAnswer>;
  };
  return { tokens, run };
}

function modelFor(models: ServedModels, body: SeriesRequest & { readonly freq: string }) {
  const problems = [...seriesProblems(body), ...inSampleProblems(body)];
  const model = modelOf(models, body, problems);
  if (model === null || problems.length > 0) throw invalidRequest(problems);
  return model;
}
