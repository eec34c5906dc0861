import type { Static } from 'typebox';
import { OUTPUTS_OF_DETECTION, outputsOfLevels, tokensOf } from '../../accounts/token-count.ts';
import { inSampleContext, inSampleHorizon } from '../../models/frequency-profile.ts';
import type { ServedModels } from '../../models/served-models.ts';
import type { HistoricForecastRequest, InSampleDetectionRequest } from '../../wire/schema/tasks/in-sample-schema.ts';
import type { ContributionKind } from '../../wire/schema/tasks/series-schema.ts';
import { DEFAULT_LEVEL, distinctLevels, type WireLevel } from '../../wire/wire-answer.ts';
import { readContributions } from '../series/attribution.ts';
import { checkTuningSteps } from '../series/request-limits.ts';
import { RequestReader, type SeriesQuestion, type SeriesRequest } from '../series/request-reader.ts';

/** A checked request for in-sample forecasts of whole histories. */
export interface InSampleQuestion extends SeriesQuestion {
  readonly h: number;
  readonly context: number;
  readonly levels: readonly WireLevel[];
  /** The contributions of exogenous variables that are requested; null: none. */
  readonly contributions: ContributionKind | null;
}

/** Throws an HttpProblem for an invalid request. */
export function readInSampleDetection(
  body: Static<typeof InSampleDetectionRequest>,
  models: ServedModels,
): InSampleQuestion {
  const levels = [body.level ?? DEFAULT_LEVEL];
  return { ...readInSample(body, models, OUTPUTS_OF_DETECTION), levels, contributions: null };
}

/** Throws an HttpProblem for an invalid request. */
export function readHistoricForecast(
  body: Static<typeof HistoricForecastRequest>,
  models: ServedModels,
): InSampleQuestion {
  const levels = distinctLevels(body.level);
  return { ...readInSample(body, models, outputsOfLevels(levels.length)), levels };
}

/**
 * The fields that all requests for whole histories share.
 * @param outputs numbers of the answer per value
 */
export function readInSample(body: SeriesRequest, models: ServedModels, outputs: number) {
  const reader = new RequestReader(body, models);
  const { frequency, problems } = reader;
  const h = inSampleHorizon(frequency);
  checkTuningSteps(problems, body);
  const contributions = readContributions(problems, body);
  const read = reader.question({ forecasts: Math.ceil(body.series.y.length / h), h });
  const tokens = tokensOf(body, { predicted: body.series.y.length, outputs });
  const context = inSampleContext(frequency, read.model.forecaster.limits.context);
  return { ...read, tokens, h, context, contributions };
}
