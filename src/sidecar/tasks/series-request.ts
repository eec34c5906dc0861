import {
  DEFAULT_MODEL,
  type ServedModel,
  type ServedModels,
  unknownModel,
  untunable,
} from '../models/served-models.ts';
import { type FieldProblem, fieldProblem } from '../wire/problem.ts';
import type { SeriesBody } from '../wire/schema/series-schema.ts';
import { exogenousProblems } from './exogenous-request.ts';
import { tuningProblems } from './request-limits.ts';

/** Common fields of requests with series. */
export interface SeriesRequest {
  readonly series: SeriesBody;
  readonly model?: string;
  readonly finetuned_model_id?: string | null;
  readonly finetune_steps?: number;
  readonly hist_exog?: readonly number[] | null;
}

const SERIES = ['body', 'series'] as const;

/** Inconsistencies of a request that matches its schema. */
export function seriesProblems(request: SeriesRequest): FieldProblem[] {
  const { series, finetune_steps: steps = 0 } = request;
  const { y, sizes, X, X_future: future, categorical_exog: categorical, start_datetime: starts, texts } = series;
  const problems = exogenousProblems(request);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total !== y.length) {
    problems.push(fieldProblem([...SERIES, 'sizes'], `sizes add up to ${total}, but y has ${y.length} values`));
  }
  if (starts && starts.length !== sizes.length) {
    const text = `there are ${starts.length} beginnings, but ${sizes.length} series`;
    problems.push(fieldProblem([...SERIES, 'start_datetime'], text));
  }
  const columns = X?.length ?? 0;
  const [hasTexts, isCategorical] = [new Set(texts), new Set(categorical)];
  X?.forEach((column, i) => {
    const loc = [...SERIES, 'X', i];
    if (column.length !== y.length) {
      problems.push(fieldProblem(loc, `a variable has ${column.length} values, but y has ${y.length}`));
    }
    if (hasTexts.has(i) && !isCategorical.has(i)) {
      problems.push(fieldProblem(loc, `a variable that holds texts must be named in categorical_exog`));
    }
  });
  categorical?.forEach((index, i) => {
    if (index >= columns) {
      problems.push(fieldProblem([...SERIES, 'categorical_exog', i], `there is no column ${index} in X`));
    }
  });
  if ((future?.length ?? 0) > columns) {
    problems.push(
      fieldProblem([...SERIES, 'X_future'], `X_future has ${future?.length} variables, but X has ${columns}`),
    );
  }
  return [...problems, ...tuningProblems(steps, sizes)];
}

/** The model of a request. Adds a problem for an unknown name, and for a model that cannot be fine-tuned. */
export function modelOf(models: ServedModels, request: SeriesRequest, problems: FieldProblem[]): ServedModel | null {
  const tuned = (request.finetune_steps ?? 0) > 0;
  const model = models.finetuned ?? models.find(request.model ?? DEFAULT_MODEL);
  if (model === null) problems.push(unknownModel(models, 'body'));
  if (model?.tunable === null && tuned) problems.push(untunable(models, model, 'finetune_steps'));
  return model;
}

/** Problems of series shorter than `needed`, limited to the first few. */
export function tooShort(sizes: readonly number[], needed: number, why: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (let i = 0; i < sizes.length && problems.length < SHORT_SERIES_PROBLEMS_MAX; i++) {
    if (sizes[i] >= needed) continue;
    const text = `series ${i} has ${sizes[i]} values, too few ${why}: at least ${needed} are needed`;
    problems.push(fieldProblem([...SERIES, 'sizes', i], text));
  }
  return problems;
}

const SHORT_SERIES_PROBLEMS_MAX = 10;
