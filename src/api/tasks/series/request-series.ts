import type { ExogenousVariable } from '../../../forecasting/exogenous/design.ts';
import type { ExplainedSeries } from '../../../forecasting/relevance/explained-series.ts';
import type { SeriesBody } from '../../wire/schema/tasks/series-schema.ts';

interface RequestVariable extends ExogenousVariable {
  readonly values: Float64Array;
}
type VariablesBySeries = readonly (readonly RequestVariable[])[];

/**
 * The series of a request with their exogenous variables. The columns of the body are split at first use, once: the
 * request of a job is checked where it is submitted, and split where it runs.
 */
export class RequestSeries {
  /** Values of each series. */
  readonly sizes: readonly number[];
  readonly #body: SeriesBody;
  #values: readonly Float64Array[] | undefined;
  #variables: VariablesBySeries | null | undefined;

  constructor(body: SeriesBody) {
    this.#body = body;
    this.sizes = body.sizes;
  }

  /** The values of each series, as views of `y`. */
  get values(): readonly Float64Array[] {
    this.#values ??= viewsOf(this.#body.y, this.sizes);
    return this.#values;
  }

  get variableCount(): number {
    return this.#body.X?.length ?? 0;
  }

  /** The exogenous variables of each series; null without any. */
  get variables(): VariablesBySeries | null {
    if (this.#variables === undefined) {
      const { X, categorical_exog: categorical } = this.#body;
      this.#variables = X && X.length > 0 ? variablesOf(X, this.sizes, categorical) : null;
    }
    return this.#variables;
  }

  /** The exogenous variables of each series over the next `h` values; null for historical ones. */
  future(h: number): (ExogenousVariable | null)[][] {
    const { X_future: future, categorical_exog: categorical } = this.#body;
    const pastOnly = new Array<null>(this.variableCount - (future?.length ?? 0)).fill(null);
    const horizons = this.sizes.map(() => h);
    return variablesOf(future ?? [], horizons, categorical).map((variables) => [...variables, ...pastOnly]);
  }
}

/** The series with their variables, without the last `held` values of each. */
export function explainedSeries({ values, variables }: RequestSeries, held = 0): ExplainedSeries[] {
  return values.map((history, i) => {
    const end = history.length - held;
    const own = (variables?.[i] ?? []).map((variable) => ({ ...variable, values: variable.values.subarray(0, end) }));
    return { values: history.subarray(0, end), variables: own };
  });
}

function viewsOf(column: Float64Array, lengths: readonly number[]): Float64Array[] {
  let start = 0;
  return lengths.map((length) => {
    const view = column.subarray(start, start + length);
    start += length;
    return view;
  });
}

function variablesOf(
  columns: readonly Float64Array[],
  lengths: readonly number[],
  categorical: readonly number[] | null | undefined,
): RequestVariable[][] {
  const isCategorical = new Set(categorical);
  let start = 0;
  return lengths.map((length) => {
    const from = start;
    start += length;
    return columns.map((column, i) => ({ values: column.subarray(from, start), categorical: isCategorical.has(i) }));
  });
}
