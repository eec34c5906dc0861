import { setImmediate as nextTurn } from 'node:timers/promises';
import { CATEGORIES_MAX, type ExogenousVariable } from '../../forecast/exogenous/design.ts';
import { EFFECT_ROWS_MIN } from '../../forecast/exogenous/exogenous-fit.ts';
import { BACKTEST_FORECASTS_MAX } from '../../forecast/exogenous/exogenous-forecast.ts';
import { fitExogenousEffects } from '../../forecast/exogenous/fit-effects.ts';
import type { ExogenousEffects } from '../../forecast/exogenous-effects.ts';
import { frequencyProfile } from '../models/frequency-profile.ts';
import { type FieldProblem, fieldProblem } from '../wire/problem.ts';
import type { SeriesBody } from '../wire/schema/series-schema.ts';
import { joined, type WireNumbers } from '../wire/wire-answer.ts';
import { splitSeries } from './split-series.ts';

/** Limits the time of the regression. A numeric variable makes one column, a category one column per frequent value. */
const COLUMNS_MAX = 200;

/** Yields to the event loop during a regression. */
export const pause = (): Promise<unknown> => nextTurn();

/** The exogenous variables of each series; null without any. */
export function variablesOf({ sizes, X, categorical_exog: categorical }: SeriesBody): ExogenousVariable[][] | null {
  return X && X.length > 0 ? slices(X, sizes, categorical) : null;
}

/** The exogenous variables over the horizon of each series; null for historical ones. */
export function futureOf(series: SeriesBody, h: number): (ExogenousVariable | null)[][] {
  const { sizes, X, X_future: future, categorical_exog: categorical } = series;
  const pastOnly = new Array<null>((X?.length ?? 0) - (future?.length ?? 0)).fill(null);
  const horizons = sizes.map(() => h);
  return slices(future ?? [], horizons, categorical).map((variables) => [...variables, ...pastOnly]);
}

function slices(
  columns: readonly Float64Array[],
  lengths: readonly number[],
  categorical: readonly number[] | null | undefined,
): ExogenousVariable[][] {
  const isCategorical = new Set(categorical);
  let start = 0;
  return lengths.map((length) => {
    const from = start;
    start += length;
    return columns.map((column, i) => ({
      values: column.subarray(from, start),
      categorical: isCategorical.has(i),
    }));
  });
}

/** Backtest forecasts per point, besides its own. */
export function trialForecastsOf({ X }: SeriesBody): number {
  return X && X.length > 0 ? BACKTEST_FORECASTS_MAX : 0;
}

interface EffectsRequest {
  readonly series: SeriesBody;
  readonly freq: string;
  readonly clean_ex_first?: boolean;
  readonly hist_exog?: readonly number[] | null;
}

/**
 * Fits exogenous effects to each series; undefined without variables.
 * @param held values at the end of each series that are excluded from the fit
 */
export async function effectsOf(
  request: EffectsRequest,
  held: number,
  signal: AbortSignal,
): Promise<ExogenousEffects[] | undefined> {
  const variables = variablesOf(request.series);
  if (variables === null) return undefined;
  const { clean_ex_first: cleanFirst = true, hist_exog: pastOnly } = request;
  const { season } = frequencyProfile(request.freq);
  const effects: ExogenousEffects[] = [];
  for (const [i, values] of splitSeries(request.series).entries()) {
    signal.throwIfAborted();
    const settings = { cleanFirst, pastOnly: pastOnly ?? [], end: values.length - held, season, pause };
    effects.push(await fitExogenousEffects(values, variables[i], settings));
  }
  return effects;
}

export function exogenousProblems({
  series,
  hist_exog: pastOnly,
}: Pick<EffectsRequest, 'series' | 'hist_exog'>): FieldProblem[] {
  const columns = series.X?.length ?? 0;
  const problems: FieldProblem[] = [];
  const used = columnsOf(series);
  if (used > COLUMNS_MAX) {
    const text =
      `X makes ${used} columns, one for each number and for each frequent value of a category; at most ` +
      `${COLUMNS_MAX} can be used`;
    problems.push(fieldProblem(['body', 'series', 'X'], text));
  }
  pastOnly?.forEach((index, i) => {
    if (index < columns) return;
    problems.push(fieldProblem(['body', 'hist_exog', i], `there is no column ${index} in X`));
  });
  return problems;
}

function columnsOf({ X, categorical_exog: categorical }: SeriesBody): number {
  const isCategorical = new Set(categorical);
  const columnsOfOne = (values: Float64Array, i: number) => (isCategorical.has(i) ? categoriesIn(values) : 1);
  return (X ?? []).reduce((sum, values, i) => sum + columnsOfOne(values, i), 0);
}

/** Counts distinct values up to the maximum. */
function categoriesIn(values: Float64Array): number {
  const seen = new Set<number>();
  for (const value of values) if (seen.add(value).size === CATEGORIES_MAX) break;
  return seen.size;
}

/**
 * The mean share of each variable in the effect; null without variables, or where every series is too short for one.
 */
export function meanWeights(
  fits: readonly { weights: Float64Array }[],
  variables: number,
  sizes: readonly number[],
): number[] | null {
  if (variables === 0 || sizes.every((size) => size < EFFECT_ROWS_MIN)) return null;
  const mean = new Array<number>(variables).fill(0);
  for (const { weights } of fits) {
    for (let i = 0; i < variables; i++) mean[i] += weights[i] / fits.length;
  }
  return mean;
}

/** The contribution of each variable to `mean`, and the remainder as the last row. The rows sum to `mean`. */
export function contributionRows(
  fits: readonly { readonly contributions: readonly Float64Array[] }[],
  mean: WireNumbers,
  variables: number,
): WireNumbers[] {
  const rows = Array.from({ length: variables }, (_, v) => joined(fits.map(({ contributions }) => contributions[v])));
  const left = mean.slice();
  for (const row of rows) for (let i = 0; i < left.length; i++) left[i] -= row[i];
  return [...rows, left];
}
