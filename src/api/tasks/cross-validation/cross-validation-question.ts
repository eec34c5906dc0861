import { OUTPUTS_OF_CROSS_VALIDATION, outputsOfLevels, tokensOf } from '../../accounts/token-count.ts';
import type { ServedModels } from '../../models/served-models.ts';
import type { CrossValidationBody } from '../../wire/schema/tasks/forecast-schema.ts';
import { distinctLevels } from '../../wire/wire-answer.ts';
import { type ForecastQuestion, forecastsOfOne, horizonFields } from '../forecast/forecast-question.ts';
import { type InSampleQuestion, readInSample } from '../in-sample/in-sample-question.ts';
import { readContributions } from '../series/attribution.ts';
import { checkAnswerSize, checkIntervals, checkLengths, checkTuningSteps } from '../series/request-limits.ts';
import { RequestReader } from '../series/request-reader.ts';

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
  const { sizes } = series;
  const reader = new RequestReader(body, models);
  const { problems } = reader;
  const tunings = refit ? windows : 1;
  const levels = distinctLevels(body.level);
  const predicted = sizes.length * windows * h;
  // The first window needs at least one value before it.
  const span = h + (windows - 1) * (step ?? h);
  const sent = body.level?.length ?? 0;
  checkIntervals(problems, sent, sizes, span);
  checkLengths(problems, sizes, span + 1, `for ${windows} windows of ${h}`);
  // Every row of the answer has its position as well.
  checkAnswerSize(problems, predicted * (1 + outputsOfLevels(sent)));
  checkTuningSteps(problems, body, tunings);
  const contributions = readContributions(problems, body);
  const read = reader.question({ forecasts: sizes.length * windows * forecastsOfOne(body, reader.frequency), h });
  return {
    ...read,
    ...horizonFields(h, levels, read),
    contributions,
    backs: Array.from({ length: windows }, (_, window) => h + (windows - 1 - window) * (step ?? h)),
    tunings,
    tokens: tokensOf(body, { predicted, outputs: OUTPUTS_OF_CROSS_VALIDATION, tunings }),
  };
}

/** The question of a request for the whole history, in-sample. Throws an HttpProblem for an invalid request. */
export function readWholeHistory(body: CrossValidationBody, models: ServedModels): InSampleQuestion {
  return { ...readInSample(body, models, OUTPUTS_OF_CROSS_VALIDATION), levels: distinctLevels(body.level) };
}
