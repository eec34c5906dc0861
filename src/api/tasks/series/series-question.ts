import type { TokenCount } from '../../accounts/token-count.ts';
import type { FrequencyProfile } from '../../models/frequency-profile.ts';
import {
  DEFAULT_MODEL,
  modelParams,
  type ServedModel,
  type ServedModels,
  unknownModel,
  untunable,
} from '../../models/served-models.ts';
import type { Tuning } from '../../models/tuned-models.ts';
import { type FieldProblem, invalidRequest } from '../../wire/problem.ts';
import { alignSeries } from './alignment.ts';
import { loadProblems, type ModelLoad } from './request-limits.ts';
import { RequestSeries } from './request-series.ts';
import { exogenousProblems, type SeriesRequest, seriesProblems } from './series-problems.ts';

/** A checked request with series. */
export interface SeriesQuestion {
  readonly series: RequestSeries;
  readonly frequency: FrequencyProfile;
  readonly model: ServedModel;
  readonly tuning: Tuning;
  /** Whether the exogenous effect is removed before the model is applied. */
  readonly cleanFirst: boolean;
  /** Exogenous variables without known future values. */
  readonly pastOnly: readonly number[];
  /** Positions of the series on their common time axis; undefined where they are forecast one by one. */
  readonly offsets: number[] | undefined;
  /** The price of the answer. */
  readonly tokens: TokenCount;
}

interface RequestReading {
  readonly models: ServedModels;
  readonly frequency: FrequencyProfile;
  /** Further problems of the request. */
  readonly problems: readonly FieldProblem[];
  /** None where nothing is forecast. */
  readonly load?: ModelLoad;
  /** The field to blame where the model cannot be fine-tuned: the steps, or the model itself, with any steps. */
  readonly tunedBy?: 'finetune_steps' | 'model';
}

/** The fields that all questions have. Throws an HttpProblem with all problems of the request. */
export function readSeriesRequest(
  request: SeriesRequest,
  { models, frequency, problems: own, load, tunedBy = 'finetune_steps' }: RequestReading,
): Omit<SeriesQuestion, 'tokens'> {
  const { finetune_steps: steps = 0, finetune_loss: loss = 'default', finetune_depth: depth = 1 } = request;
  const problems = [...exogenousProblems(request), ...seriesProblems(request), ...own];
  const model = models.finetuned ?? models.find(request.model ?? DEFAULT_MODEL);
  if (model === null) problems.push(unknownModel(models, 'body'));
  if (load !== undefined) {
    problems.push(...loadProblems(load, model?.forecaster.limits.passHorizonMax ?? Number.POSITIVE_INFINITY));
  }
  const isTuned = tunedBy === 'model' || steps > 0;
  if (model?.tunable === null && isTuned) problems.push(untunable(models, model, tunedBy));
  const offsets = alignSeries(request, { frequency, model }, problems);
  if (model === null || problems.length > 0) throw invalidRequest(problems);
  return {
    series: new RequestSeries(request.series),
    frequency,
    model,
    tuning: { steps, loss, depth },
    cleanFirst: request.clean_ex_first ?? true,
    pastOnly: request.hist_exog ?? columnsAfter(request.series),
    offsets,
  };
}

/** Columns of `X` after those of `X_future`; none without `X_future`. */
function columnsAfter({ X, X_future: future }: SeriesRequest['series']): readonly number[] {
  const known = future?.length ?? 0;
  return known === 0 ? [] : (X ?? []).map((_, i) => i).slice(known);
}

/** The warning of a forecast beyond the horizon of the model, which is made all the same. */
export function horizonWarning(h: number, { model, frequency }: Pick<SeriesQuestion, 'model' | 'frequency'>) {
  const { horizon } = modelParams(model, frequency);
  if (h <= horizon) return null;
  const beyond = `h ${h} is beyond the horizon of the model at this frequency (${horizon})`;
  return `${beyond}; forecasts may be less accurate`;
}
