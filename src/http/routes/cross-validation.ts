import type { Static } from 'typebox';
import { alignmentProblems } from '../alignment.ts';
import type { App, AppServices } from '../app.ts';
import { clientGone } from '../client-gone.ts';
import { aheadOfWindows, forecastAnswer, type RequestPoint } from '../exogenous-forecast.ts';
import { forecastHistories, inSampleAnswer, inSampleProblems } from '../in-sample-answer.ts';
import type { Work } from '../jobs/job.ts';
import { invalidRequest } from '../problem.ts';
import { answerTooLong, tooManyForecasts } from '../request-limits.ts';
import { KEY_NEEDED, seriesAnswers } from '../schema/answers.ts';
import { CrossValidationAnswer, type CrossValidationBody, CrossValidationRequest } from '../schema/forecast.ts';
import { modelOf, seriesProblems, tooShort } from '../series-request.ts';
import type { ServedModel } from '../served-models.ts';
import { OUTPUTS_OF_CROSS_VALIDATION, outputsOfLevels, tokensOf } from '../tokens.ts';
import { distinctLevels } from '../wire/interval-keys.ts';
import { sendAnswer } from '../wire/wire-answer.ts';

export function addCrossValidation(app: App, services: AppServices): void {
  app.post(
    '/v2/cross_validation',
    {
      schema: {
        summary: 'Forecasts windows at the end of each series from what came before each of them',
        security: KEY_NEEDED,
        body: CrossValidationRequest,
        response: seriesAnswers(CrossValidationAnswer),
      },
    },
    async ({ body }, reply) => sendAnswer(reply, await crossValidationWork(body, services)(clientGone(reply))),
  );
}

/** Throws an HttpProblem for what cannot be answered. */
export function crossValidationWork(body: CrossValidationBody, { models, usage }: AppServices): Work {
  const problems = [...seriesProblems(body), ...(body.full_history ? inSampleProblems(body) : windowProblems(body))];
  const model = modelOf(models, body, problems);
  if (!body.full_history) problems.push(...alignmentProblems(body, model));
  if (model === null || problems.length > 0) throw invalidRequest(problems);
  const validate = body.full_history ? validateHistories : validateWindows;
  return async (signal) => {
    const answer = await validate(body, model, signal);
    const tokens = tokensOf(body.series, answer.mean.length, OUTPUTS_OF_CROSS_VALIDATION);
    usage.count(tokens);
    return { ...tokens, ...answer } satisfies Static<typeof CrossValidationAnswer>;
  };
}

/** The first window must have something before it. */
function windowProblems({ series: { sizes }, h, n_windows: windows = 1, step_size: step, level }: CrossValidationBody) {
  const span = h + (windows - 1) * (step ?? h);
  const numbers = sizes.length * windows * h * outputsOfLevels(level?.length ?? 0);
  return [
    ...tooShort(sizes, span + 1, `for ${windows} windows of ${h}`),
    ...answerTooLong(numbers),
    ...tooManyForecasts(sizes.length * windows),
  ];
}

/** Series after series, windows in the order of time, `h` rows each. */
async function validateWindows(body: CrossValidationBody, model: ServedModel, signal: AbortSignal) {
  const { h, n_windows: windows = 1, step_size: step } = body;
  const points: RequestPoint[] = [];
  const idxs: number[] = [];
  let start = 0;
  body.series.sizes.forEach((size, series) => {
    for (let window = 0; window < windows; window++) {
      const cutoff = size - h - (windows - 1 - window) * (step ?? h);
      points.push({ series, cutoff });
      for (let k = 0; k < h; k++) idxs.push(start + cutoff + k);
    }
    start += size;
  });
  const answer = await forecastAnswer(body, points, () => aheadOfWindows(body), model, signal);
  return { ...answer, sizes: body.series.sizes.map(() => windows * h), idxs: Float64Array.from(idxs) };
}

async function validateHistories(body: CrossValidationBody, model: ServedModel, signal: AbortSignal) {
  const forecasts = await forecastHistories(body, model, signal);
  const idxs = body.series.y.map((_, position) => position);
  const contributions = body.feature_contributions ?? false;
  return { ...inSampleAnswer(forecasts, distinctLevels(body.level), { contributions }), idxs };
}
