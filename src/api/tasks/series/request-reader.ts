import { endAlignedOffsets } from '../../../forecasting/group-context.ts';
import type { TuningLoss } from '../../../models/tuning-graphs.ts';
import { type Frequency, gridPosition } from '../../../time/frequency.ts';
import type { TokenCount } from '../../accounts/token-count.ts';
import { type FrequencyProfile, frequencyProfile } from '../../models/frequency-profile.ts';
import {
  DEFAULT_MODEL,
  modelParams,
  type ServedModel,
  type ServedModels,
  unknownModel,
  untunable,
} from '../../models/served-models.ts';
import type { Tuning } from '../../models/tuned-models.ts';
import { BodyProblems } from '../../wire/problem.ts';
import type { SeriesBody } from '../../wire/schema/tasks/series-schema.ts';
import { checkLoad, type ModelLoad } from './request-limits.ts';
import { RequestSeries } from './request-series.ts';
import { checkSeries, checkVariables } from './series-checks.ts';

export interface SeriesRequest {
  readonly series: SeriesBody;
  readonly freq: string;
  readonly model?: string;
  readonly finetune_steps?: number;
  readonly finetune_loss?: TuningLoss;
  readonly finetune_depth?: number;
  readonly clean_ex_first?: boolean;
  readonly multivariate?: boolean | null;
  readonly hist_exog?: readonly number[] | null;
}

export interface SeriesQuestion {
  readonly series: RequestSeries;
  readonly frequency: FrequencyProfile;
  readonly model: ServedModel;
  readonly tuning: Tuning;
  /** True if the exogenous effect is removed before the model is applied. */
  readonly cleanFirst: boolean;
  /** Exogenous variables without known future values. */
  readonly pastOnly: readonly number[];
  /** Positions of the series on their common time axis; undefined: they are forecast one by one. */
  readonly offsets: number[] | undefined;
  readonly tokens: TokenCount;
}

/** Reads the fields that requests with series share, each once, and collects the problems of the whole request. */
export class RequestReader {
  readonly problems = new BodyProblems();
  readonly frequency: FrequencyProfile;
  readonly #request: SeriesRequest;
  readonly #models: ServedModels;
  /** null: no such model. */
  readonly #model: ServedModel | null;
  #startsMs: readonly number[] | null | undefined;

  /** Throws an HttpProblem 403 for a model that the key may not use. */
  constructor(request: SeriesRequest, models: ServedModels) {
    this.#request = request;
    this.#models = models;
    this.frequency = frequencyProfile(request.freq);
    this.#model = models.finetuned ?? models.find(request.model ?? DEFAULT_MODEL);
    checkVariables(this.problems, request.series, request.hist_exog);
    checkSeries(this.problems, request.series);
  }

  /** Times of the first values, parsed at first use; null without any, or if one cannot be read. */
  get startsMs(): readonly number[] | null {
    if (this.#startsMs !== undefined) return this.#startsMs;
    const times = this.#request.series.start_datetime?.map(parseTimestamp) ?? null;
    const unread = times?.indexOf(null) ?? -1;
    if (unread >= 0) {
      const text = 'a start must be an ISO 8601 date, or date and time, such as 2026-01-31T00:00:00';
      this.problems.add(['series', 'start_datetime', unread], text);
    }
    this.#startsMs = unread >= 0 ? null : (times as readonly number[] | null);
    return this.#startsMs;
  }

  /** Position of the first value of each series on a common time axis, in steps. */
  offsets(): number[] {
    return seriesOffsets(this.#request.series.sizes, this.startsMs, this.frequency.grid);
  }

  /**
   * Returns the fields that all questions have. Throws an HttpProblem with all problems of the request.
   * @param load absent: nothing is forecast
   * @param tunedBy the field to report if the model cannot be fine-tuned: the steps, or the model, with any steps
   */
  question(load?: ModelLoad, tunedBy: 'finetune_steps' | 'model' = 'finetune_steps'): Omit<SeriesQuestion, 'tokens'> {
    const {
      series,
      finetune_steps: steps = 0,
      finetune_loss: loss = 'default',
      finetune_depth: depth = 1,
    } = this.#request;
    const { problems } = this;
    const model = this.#model;
    if (model === null) problems.add(['model'], unknownModel(this.#models));
    if (load !== undefined) {
      checkLoad(problems, load, model?.forecaster.limits.passHorizonMax ?? Number.POSITIVE_INFINITY);
    }
    const isTuned = tunedBy === 'model' || steps > 0;
    if (model?.tunable === null && isTuned) problems.add([tunedBy], untunable(this.#models, model));
    const offsets = this.#offsetsTogether();
    problems.throwIfAny();
    return {
      series: new RequestSeries(series),
      frequency: this.frequency,
      model: model!,
      tuning: { steps, loss, depth },
      cleanFirst: this.#request.clean_ex_first ?? true,
      pastOnly: this.#request.hist_exog ?? columnsAfter(series),
      offsets,
    };
  }

  /** undefined if the request or the model is univariate. */
  #offsetsTogether(): number[] | undefined {
    const { series, multivariate } = this.#request;
    const membersMax = this.#model?.forecaster.limits.membersMax;
    if (!multivariate || membersMax === undefined) return undefined;
    const { length } = series.sizes;
    if (length > membersMax) {
      const most = `at most ${membersMax}; send fewer, or multivariate false`;
      this.problems.add(['series', 'sizes'], `${length} series cannot be forecast together: ${most}`);
    }
    return this.offsets();
  }
}

/** Columns of `X` after those of `X_future`; none without `X_future`. */
function columnsAfter({ X, X_future: future }: SeriesBody): readonly number[] {
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

/**
 * Position of the first value of each series on a common time axis, in steps. Without start times, or on a frequency
 * without a grid, series end together.
 */
function seriesOffsets(sizes: readonly number[], startsMs: readonly number[] | null, grid: Frequency | null): number[] {
  if (startsMs === null || grid === null) return endAlignedOffsets(sizes);
  const first = startsMs.reduce((earliest, time) => Math.min(earliest, time), Number.POSITIVE_INFINITY);
  return startsMs.map((time) => gridPosition(grid, first, time));
}

const ISO_8601 =
  /^(\d{4})-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d{1,3})\d*)?)?)?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/;

/**
 * Parses an ISO 8601 date or date-time into milliseconds since 1970. UTC is the default zone. Returns null for other
 * texts.
 */
export function parseTimestamp(text: string): number | null {
  const match = ISO_8601.exec(text);
  if (match === null) return null;
  const [, year, month, day = '01', hour = '00', minute = '00', second = '00', fraction = '0', zone = 'Z'] = match;
  const offset = zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0')}${offset}`);
  return Number.isNaN(time) ? null : time;
}
