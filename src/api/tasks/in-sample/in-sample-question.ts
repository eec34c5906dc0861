import type { Static } from 'typebox';
import { OUTPUTS_OF_DETECTION, outputsOfLevels, tokensOf } from '../../accounts/token-count.ts';
import { frequencyProfile, inSampleContext, inSampleHorizon } from '../../models/frequency-profile.ts';
import type { ServedModels } from '../../models/served-models.ts';
import { DEFAULT_LEVEL, distinctLevels } from '../../wire/interval-keys.ts';
import type { HistoricForecastRequest, InSampleDetectionRequest } from '../../wire/schema/in-sample-schema.ts';
import type { ContributionKind } from '../../wire/schema/series-schema.ts';
import type { WireLevel } from '../../wire/wire-types.ts';
import { contributionKind, contributionProblems } from '../series/attribution.ts';
import { tuningProblems } from '../series/request-limits.ts';
import type { SeriesRequest } from '../series/series-problems.ts';
import { readSeriesRequest, type SeriesQuestion } from '../series/series-question.ts';

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
  const read = readInSample(body, models, outputsOfLevels(levels.length));
  return { ...read, levels, contributions: contributionKind(body) };
}

/**
 * The fields that all requests for whole histories share.
 * @param outputs numbers of the answer per value
 */
export function readInSample(body: SeriesRequest & { readonly freq: string }, models: ServedModels, outputs: number) {
  const frequency = frequencyProfile(body.freq);
  const h = inSampleHorizon(frequency);
  const problems = [...tuningProblems(body), ...contributionProblems(body)];
  const load = { forecasts: Math.ceil(body.series.y.length / h), h };
  const read = readSeriesRequest(body, { models, frequency, problems, load });
  const tokens = tokensOf(body, { predicted: body.series.y.length, outputs });
  return { ...read, tokens, h, context: inSampleContext(frequency, read.model.forecaster.limits.context) };
}
