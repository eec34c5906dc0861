import { marginalProbabilities } from '../../../forecasting/simulation/marginal-quantiles.ts';
import { tokensOf } from '../../accounts/token-count.ts';
import type { ServedModels } from '../../models/served-models.ts';
import { type BodyProblems, fieldProblem, invalidRequest } from '../../wire/problem.ts';
import { PATHS_DEFAULT, SEED_MAX, SEED_MIN, type SimulateBody } from '../../wire/schema/tasks/simulate-schema.ts';
import type { WireLiteral } from '../../wire/wire-answer.ts';
import { checkFuture, type ForecastQuestion, forecastsOfOne, horizonSettings } from '../forecast/forecast-question.ts';
import { checkIntervals, checkLengths, checkPaths } from '../series/request-limits.ts';
import { horizonWarning, RequestReader } from '../series/request-reader.ts';

/** A checked request for paths. Its forecasts are those of the marginal distributions. */
export interface SimulateQuestion extends ForecastQuestion {
  readonly paths: number;
  /** null: other paths every time. */
  readonly seed: bigint | null;
  /** True if the paths of all series should follow the same windows: several series that end together. */
  readonly coupled: boolean;
}

/** Throws an HttpProblem for an invalid request. */
export function readSimulate(body: SimulateBody, models: ServedModels): SimulateQuestion {
  const { series, h, n_paths: paths = PATHS_DEFAULT, multivariate = false } = body;
  const { sizes } = series;
  const quantiles = body.quantiles ?? [];
  const reader = new RequestReader(body, models);
  const { problems } = reader;
  const probabilities = marginalProbabilities(quantiles);
  const predicted = sizes.length * h;
  checkFuture(problems, body);
  checkPaths(problems, { predicted, paths, quantiles: quantiles.length });
  checkOrder(problems, quantiles);
  checkIntervals(problems, 1, sizes);
  checkLengths(problems, sizes, h, `for a window of ${h} steps`);
  const seed = readSeed(problems, body.seed);
  const offsets = multivariate ? reader.offsets() : [];
  const end = offsets[0] + sizes[0];
  const forecasts = sizes.length * forecastsOfOne({ h, series, level: probabilities }, reader.frequency);
  const read = reader.question({ forecasts, h });
  const gapped = read.series.values.findIndex((values) => !hasWindow(pathHistory(values, h), h));
  if (gapped >= 0) {
    const text = `series ${gapped} has no ${h} values without a gap, as paths of h ${h} need`;
    throw invalidRequest([fieldProblem(['body', 'series', 'y'], text)]);
  }
  return {
    ...read,
    settings: horizonSettings(h, probabilities, read),
    levels: [],
    contributions: null,
    warning: horizonWarning(h, read),
    paths,
    seed,
    coupled: sizes.length > 1 && offsets.length > 0 && sizes.every((size, i) => offsets[i] + size === end),
    tokens: tokensOf(body, { predicted, outputs: paths, future: (series.X_future?.length ?? 0) * predicted }),
  };
}

function checkOrder(problems: BodyProblems, quantiles: readonly number[]): void {
  const wrong = quantiles.findIndex((quantile, i) => i > 0 && quantile <= quantiles[i - 1]);
  if (wrong < 0) return;
  const text = `quantiles must be strictly increasing, got ${quantiles[wrong]} after ${quantiles[wrong - 1]}`;
  problems.add(['quantiles', wrong], text);
}

/** The seed by its digits: as a number, seeds beyond 2^53 would be equal. */
function readSeed(problems: BodyProblems, given: WireLiteral | null | undefined): bigint | null {
  if (given === null || given === undefined) return null;
  const { value, text } = given;
  const isExact = /^-?\d+$/.test(text) || Number.isSafeInteger(value);
  const seed = isExact ? BigInt(/^-?\d+$/.test(text) ? text : value) : null;
  if (seed !== null && seed >= SEED_MIN && seed <= SEED_MAX) return seed;
  problems.add(['seed'], `seed must be an integer from ${SEED_MIN} to ${SEED_MAX}, written with all its digits`);
  return null;
}

/** Newest values of a series whose windows are followed, or those of one longer window. */
const HISTORY_MAX = 100_000;

/** The part of a series whose windows paths follow. */
export function pathHistory(values: Float64Array, h: number): Float64Array {
  return values.subarray(-Math.max(HISTORY_MAX, h));
}

/** True if a history has `h` values without a gap. Searches from the end. */
function hasWindow(values: Float64Array, h: number): boolean {
  let run = 0;
  for (let i = values.length - 1; i >= 0 && run < h; i--) run = Number.isNaN(values[i]) ? 0 : run + 1;
  return run >= h;
}
