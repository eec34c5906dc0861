import { setImmediate as pause } from 'node:timers/promises';
import type { Static } from 'typebox';
import type { CrossValidationAnswer } from '../../wire/schema/tasks/forecast-schema.ts';
import type { WireNumbers } from '../../wire/wire-answer.ts';
import { forecastAnswer } from '../forecast/forecast-answer.ts';
import { historicForecastAnswer } from '../in-sample/in-sample-answer.ts';
import type { InSampleQuestion } from '../in-sample/in-sample-question.ts';
import type { CalibratedForecast } from '../in-sample/in-sample-run.ts';
import type { WindowsQuestion } from './cross-validation-question.ts';
import { POINTS_PER_TURN, type WindowForecasts } from './cross-validation-run.ts';

/** Rows are series-major, windows in time order, `h` rows each. */
export async function windowsAnswer(question: WindowsQuestion, results: WindowForecasts) {
  const { series, backs, settings } = question;
  return {
    ...forecastAnswer(question, results),
    sizes: series.sizes.map(() => backs.length * settings.h),
    idxs: await positionsOf(question, results),
  } satisfies Static<typeof CrossValidationAnswer>;
}

/** The positions of all rows in `y`. */
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
