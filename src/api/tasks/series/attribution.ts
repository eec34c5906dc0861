import { setImmediate as pause } from 'node:timers/promises';
import type { ExogenousForecast } from '../../../forecasting/exogenous/exogenous-forecast.ts';
import { relevanceWeights } from '../../../forecasting/relevance/relevance-weights.ts';
import type { BodyProblems } from '../../wire/problem.ts';
import type { ContributionKind } from '../../wire/schema/tasks/series-schema.ts';
import { checkFeatures } from './request-limits.ts';
import { explainedSeries, type RequestSeries } from './request-series.ts';

export type ForecastEffect = Pick<ExogenousForecast, 'weights' | 'contributions'>;

interface AttributedForecast extends ForecastEffect, Pick<ExogenousForecast, 'mean' | 'typical'> {
  readonly series: number;
}

interface Contributing {
  readonly feature_contributions?: boolean;
  readonly feature_contributions_type?: ContributionKind;
  readonly series: { readonly X?: readonly Float64Array[] | null | undefined };
}

/**
 * Returns the kind of contributions that a request names; null: none. Refuses contributions by relevance of too many
 * features.
 */
export function readContributions(
  problems: BodyProblems,
  { feature_contributions: wanted = false, feature_contributions_type: type = 'shapley', series }: Contributing,
): ContributionKind | null {
  if (!wanted) return null;
  if (type === 'granger' || type === 'transfer_entropy') checkFeatures(problems, series.X ?? []);
  return type;
}

interface AttributionSettings {
  readonly series: RequestSeries;
  readonly contributions: ContributionKind | null;
  /** Values at the end of each series that are forecast. */
  readonly held: number;
  readonly signal: AbortSignal;
}

/**
 * The effects of forecasts with contributions of a kind. The effects of variables add up (`shapley`), and each is 0 at
 * the mean. `intervention`: the difference from the forecast with a variable at its historical mean, or at its most
 * frequent category. Else the distance of the forecast from the mean of its history, shared out by relevance.
 */
export async function attribute(
  forecasts: readonly AttributedForecast[],
  { series, contributions: kind, held, signal }: AttributionSettings,
): Promise<readonly ForecastEffect[]> {
  if (kind === null || kind === 'shapley') return forecasts;
  if (kind === 'intervention') {
    return forecasts.map(({ weights, contributions, typical }) => {
      const usual = typical();
      return { weights, contributions: contributions.map((own, v) => own.map((value) => value - usual[v])) };
    });
  }
  const histories = explainedSeries(series, held);
  const shares = await relevanceWeights(histories, { method: kind, pause, signal });
  const means = histories.map(({ values }) => meanOf(values));
  return forecasts.map(({ weights, mean, series: i }) => ({
    weights,
    contributions: Array.from(shares, (share) => mean.map((value) => share * (value - means[i]))),
  }));
}

function meanOf(values: ArrayLike<number>): number {
  const seen = Array.from(values).filter((value) => !Number.isNaN(value));
  return seen.reduce((sum, value) => sum + value, 0) / seen.length;
}
