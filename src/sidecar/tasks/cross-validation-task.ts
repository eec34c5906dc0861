import type { Static } from 'typebox';
import { forecastsPerPoint } from '../../forecast/multi-resolution.ts';
import type { Work } from '../accounts/metering.ts';
import { OUTPUTS_OF_CROSS_VALIDATION, outputsOfLevels, tokensOf } from '../accounts/token-count.ts';
import { aggregationOf, inSampleHorizon } from '../models/frequency-profile.ts';
import { modelParams, type ServedModel, type ServedModels } from '../models/served-models.ts';
import { contextsOf, tuneForRequest } from '../models/tuned-models.ts';
import { distinctLevels } from '../wire/interval-keys.ts';
import { invalidRequest } from '../wire/problem.ts';
import type { CrossValidationAnswer, CrossValidationBody } from '../wire/schema/forecast-schema.ts';
import { alignmentProblems, type RequestPoint } from './alignment.ts';
import { pause, trialForecastsOf } from './exogenous-request.ts';
import { forecastAnswer, futureOfWindows } from './forecast-answer.ts';
import { forecastHistories, inSampleAnswer, inSampleProblems } from './in-sample-answer.ts';
import { answerTooLong, intervalProblems, tooManyForecasts, tuningProblems } from './request-limits.ts';
import { modelOf, seriesProblems, tooShort } from './series-request.ts';
import { splitSeries } from './split-series.ts';

/** Throws an HttpProblem for an invalid request. */
export function crossValidationWork(body: CrossValidationBody, models: ServedModels): Work {
  const { finetune_steps: steps = 0 } = body;
  const problems = [
    ...seriesProblems({ ...body, finetune_steps: 0 }),
    ...(body.full_history ? inSampleProblems(body) : windowProblems(body)),
    ...tuningProblems(steps, body.series.sizes, tuningsOf(body)),
  ];
  const model = modelOf(models, body, problems);
  if (!body.full_history) problems.push(...alignmentProblems(body, model));
  if (model === null || problems.length > 0) throw invalidRequest(problems);
  const validate = body.full_history ? validateHistories : validateWindows;
  const { series, h, n_windows: windows = 1, full_history: whole } = body;
  const predicted = whole ? series.y.length : series.sizes.length * windows * h;
  const one = tokensOf(body, { predicted, outputs: OUTPUTS_OF_CROSS_VALIDATION });
  const tokens = { ...one, finetune_tokens: one.finetune_tokens * tuningsOf(body) };
  const run = async (signal: AbortSignal) => {
    const answer = await validate(body, model, signal);
    return { ...tokens, ...answer } satisfies Static<typeof CrossValidationAnswer>;
  };
  return { tokens, run };
}

/** The first window needs at least one value before it. */
function windowProblems(body: CrossValidationBody) {
  const { series, freq, h, n_windows: windows = 1, step_size: step, level } = body;
  const { sizes } = series;
  const context = Number.POSITIVE_INFINITY;
  const levels = level?.length ?? 0;
  const settings = { h, context, aggregation: aggregationOf(freq, context) };
  const perWindow = trialForecastsOf(series) + forecastsPerPoint(settings, levels > 0);
  const span = h + (windows - 1) * (step ?? h);
  // Every row of the answer has its position as well.
  const numbers = sizes.length * windows * h * (1 + outputsOfLevels(levels));
  return [
    ...intervalProblems(levels, sizes, span),
    ...tooShort(sizes, span + 1, `for ${windows} windows of ${h}`),
    ...answerTooLong(numbers),
    ...tooManyForecasts(sizes.length * windows * perWindow),
  ];
}

/** Number of fine-tunings of a request that fine-tunes. */
function tuningsOf({ n_windows: windows = 1, refit = true, full_history: whole = false }: CrossValidationBody): number {
  return refit && !whole ? windows : 1;
}

/** Rows are series-major, windows in time order, `h` rows each. */
async function validateWindows(body: CrossValidationBody, model: ServedModel, signal: AbortSignal) {
  const { h, n_windows: windows = 1, step_size: step } = body;
  const points: RequestPoint[] = [];
  for (const [series, size] of body.series.sizes.entries()) {
    for (let window = 0; window < windows; window++) {
      points.push({ series, cutoff: size - h - (windows - 1 - window) * (step ?? h) });
      if (points.length % POINTS_PER_TURN === 0) await pause();
    }
    signal.throwIfAborted();
  }
  const tuned = await tunedByWindow(body, model, signal);
  const byPoint = points.map((_, i) => tuned[i % windows] ?? tuned[0]);
  const answer = await forecastAnswer(body, { points, future: () => futureOfWindows(body), models: byPoint, signal });
  return { ...answer, sizes: body.series.sizes.map(() => windows * h), idxs: await positionsOf(points, body) };
}

/** Points that are handled before other requests have a turn. */
const POINTS_PER_TURN = 20_000;

/** The positions of all rows in `y`. */
async function positionsOf(points: readonly RequestPoint[], { series: { sizes }, h }: CrossValidationBody) {
  const starts = sizes.map(() => 0);
  for (let i = 1; i < sizes.length; i++) starts[i] = starts[i - 1] + sizes[i - 1];
  const positions = new Float64Array(points.length * h);
  const turn = Math.max(1, Math.floor((POINTS_PER_TURN * 10) / h));
  for (const [i, { series, cutoff }] of points.entries()) {
    const first = starts[series] + cutoff;
    for (let k = 0; k < h; k++) positions[i * h + k] = first + k;
    if (i % turn === turn - 1) await pause();
  }
  return positions;
}

/**
 * The model of each window, fine-tuned on the values before it. One model for all windows without `refit` or without
 * steps.
 */
async function tunedByWindow(body: CrossValidationBody, model: ServedModel, signal: AbortSignal) {
  const { h, n_windows: windows = 1, step_size: step, finetune_steps: steps = 0 } = body;
  const series = splitSeries(body.series);
  const tuned: ServedModel[] = [];
  for (let window = 0; window < (steps === 0 ? 1 : tuningsOf(body)); window++) {
    const past = series.map((values) => values.subarray(0, values.length - h - (windows - 1 - window) * (step ?? h)));
    const scope = { series: past, horizon: h, contexts: [modelParams(model, body.freq).inputSize] };
    tuned.push(await tuneForRequest(body, model, { ...scope, signal }));
  }
  return tuned;
}

async function validateHistories(body: CrossValidationBody, base: ServedModel, signal: AbortSignal) {
  const scope = {
    series: splitSeries(body.series),
    horizon: inSampleHorizon(body.freq),
    contexts: contextsOf(base, body.freq),
  };
  const model = await tuneForRequest(body, base, { ...scope, signal });
  const forecasts = await forecastHistories(body, model, signal);
  const idxs = body.series.y.map((_, position) => position);
  const contributions = body.feature_contributions ?? false;
  return { ...inSampleAnswer(forecasts, distinctLevels(body.level), { contributions }), idxs };
}
