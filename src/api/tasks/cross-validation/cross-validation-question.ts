import { OUTPUTS_OF_CROSS_VALIDATION, outputsOfLevels, tokensOf } from '../../accounts/token-count.ts';
import { frequencyProfile } from '../../models/frequency-profile.ts';
import type { ServedModels } from '../../models/served-models.ts';
import { distinctLevels } from '../../wire/interval-keys.ts';
import type { FieldProblem } from '../../wire/problem.ts';
import type { CrossValidationBody } from '../../wire/schema/forecast-schema.ts';
import { type ForecastQuestion, forecastsOfOne, horizonFields } from '../forecast/forecast-question.ts';
import { type InSampleQuestion, readInSample } from '../in-sample/in-sample-question.ts';
import { contributionKind, contributionProblems } from '../series/attribution.ts';
import { answerTooLong, intervalProblems, tuningProblems } from '../series/request-limits.ts';
import { tooShort } from '../series/series-problems.ts';
import { readSeriesRequest } from '../series/series-question.ts';

/** A checked request for forecasts of windows at the end of each series. */
export interface WindowsQuestion extends ForecastQuestion {
  /** Cutoffs of the windows, as distances from the end of the series; the oldest first. */
  readonly backs: readonly number[];
  /** Windows that are fine-tuned for: all, or the first alone. */
  readonly tunings: number;
}

/** Throws an HttpProblem for an invalid request. */
export function readWindows(body: CrossValidationBody, models: ServedModels): WindowsQuestion {
  const { series, h, n_windows: windows = 1, step_size: step, refit = true } = body;
  const frequency = frequencyProfile(body.freq);
  const tunings = refit ? windows : 1;
  const problems = [...windowProblems(body), ...tuningProblems(body, tunings), ...contributionProblems(body)];
  const load = { forecasts: series.sizes.length * windows * forecastsOfOne(body, frequency), h };
  const read = readSeriesRequest(body, { models, frequency, problems, load });
  const predicted = series.sizes.length * windows * h;
  return {
    ...read,
    ...horizonFields(body, read),
    backs: Array.from({ length: windows }, (_, window) => h + (windows - 1 - window) * (step ?? h)),
    tunings,
    tokens: tokensOf(body, { predicted, outputs: OUTPUTS_OF_CROSS_VALIDATION, tunings }),
  };
}

/** The first window needs at least one value before it. */
function windowProblems(body: CrossValidationBody): FieldProblem[] {
  const { series, h, n_windows: windows = 1, step_size: step, level } = body;
  const { sizes } = series;
  const levels = level?.length ?? 0;
  const span = h + (windows - 1) * (step ?? h);
  // Every row of the answer has its position as well.
  const numbers = sizes.length * windows * h * (1 + outputsOfLevels(levels));
  return [
    ...intervalProblems(levels, sizes, span),
    ...tooShort(sizes, span + 1, `for ${windows} windows of ${h}`),
    ...answerTooLong(numbers),
  ];
}

/** The question of a request for the whole history, in-sample. Throws an HttpProblem for an invalid request. */
export function readWholeHistory(body: CrossValidationBody, models: ServedModels): InSampleQuestion {
  const read = readInSample(body, models, OUTPUTS_OF_CROSS_VALIDATION);
  return { ...read, levels: distinctLevels(body.level), contributions: contributionKind(body) };
}
