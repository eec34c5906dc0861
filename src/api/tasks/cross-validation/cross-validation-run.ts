import { setImmediate as pause } from 'node:timers/promises';
import type { Static } from 'typebox';
import { modelParams, type ServedModel } from '../../models/served-models.ts';
import { tuneForRequest } from '../../models/tuned-models.ts';
import type { CrossValidationAnswer } from '../../wire/schema/tasks/forecast-schema.ts';
import type { WireNumbers } from '../../wire/wire-answer.ts';
import { forecastAnswer, forecastPoints, type PointForecasts, type RequestPoint } from '../forecast/forecast-run.ts';
import type { InSampleQuestion } from '../in-sample/in-sample-question.ts';
import type { CalibratedForecast } from '../in-sample/in-sample-run.ts';
import { historicForecastAnswer } from '../in-sample/in-sample-run.ts';
import type { WindowsQuestion } from './cross-validation-question.ts';

/** Points that are handled before other requests have a turn. */
const POINTS_PER_TURN = 20_000;

interface WindowForecasts extends PointForecasts {
  /** Series-major, windows in time order. */
  readonly points: readonly RequestPoint[];
}

export async function runWindows(question: WindowsQuestion, signal: AbortSignal): Promise<WindowForecasts> {
  const { series, backs, pastOnly } = question;
  const points: RequestPoint[] = [];
  for (const [i, size] of series.sizes.entries()) {
    for (const back of backs) {
      points.push({ series: i, cutoff: size - back });
      if (points.length % POINTS_PER_TURN === 0) await pause();
    }
    signal.throwIfAborted();
  }
  const tuned = await tuneByWindow(question, signal);
  const models = points.map((_, i) => tuned[i % backs.length] ?? tuned[0]);
  // All variables but the historical ones are known after the cutoff.
  const isPastOnly = new Set(pastOnly);
  const future = () => ({
    variables: (series.variables ?? []).map((own) => own.map((known, i) => (isPastOnly.has(i) ? null : known))),
    startOf: ({ cutoff }: RequestPoint) => cutoff,
  });
  return { ...(await forecastPoints(question, { points, future, models, held: backs[0], signal })), points };
}

/** The model of each window, fine-tuned on the values before it; one model for all windows where it is tuned once. */
async function tuneByWindow(question: WindowsQuestion, signal: AbortSignal): Promise<ServedModel[]> {
  const { series, model, frequency, tuning, tunings, backs, settings } = question;
  if (tuning.steps === 0) return [model];
  const contexts = [modelParams(model, frequency).inputSize];
  const tuned: ServedModel[] = [];
  for (const back of backs.slice(0, tunings)) {
    const past = series.values.map((values) => values.subarray(0, values.length - back));
    tuned.push(await tuneForRequest(tuning, model, { series: past, horizon: settings.h, contexts, signal }));
  }
  return tuned;
}

/** Rows are series-major, windows in time order, `h` rows each. */
export async function windowsAnswer(question: WindowsQuestion, results: WindowForecasts) {
  const { series, backs, settings } = question;
  return {
    ...forecastAnswer(question, results),
    sizes: series.sizes.map(() => backs.length * settings.h),
    idxs: await positionsOf(question, results),
  } satisfies Static<typeof CrossValidationAnswer>;
}

async function positionsOf({ series: { sizes }, settings: { h } }: WindowsQuestion, { points }: WindowForecasts) {
  const starts = sizes.map(() => 0);
  for (let i = 1; i < sizes.length; i++) starts[i] = starts[i - 1] + sizes[i - 1];
  const positions: WireNumbers = new Float64Array(points.length * h);
  const turn = Math.max(1, Math.floor((POINTS_PER_TURN * 10) / h));
  for (const [i, { series, cutoff }] of points.entries()) {
    const first = starts[series] + cutoff;
    for (let k = 0; k < h; k++) positions[i * h + k] = first + k;
    if (i % turn === turn - 1) await pause();
  }
  return positions;
}

/** Every value of the history is a row. */
export function wholeHistoryAnswer(question: InSampleQuestion, forecasts: readonly CalibratedForecast[]) {
  const fields = historicForecastAnswer(question, forecasts);
  return { ...fields, idxs: fields.mean.map((_, position) => position) } satisfies Static<typeof CrossValidationAnswer>;
}
