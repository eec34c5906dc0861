/** The port to a forecast model. `model/` implements it; tests implement it with arithmetic. */
export interface ForecastLimits {
  /** Longest context, in observations. */
  readonly context: number;
  /**
   * Context lengths the model runs at, ascending; the last equals `context`. A shorter context is padded on the left.
   */
  readonly contextBuckets: readonly number[];
  /** Longest horizon decoded in one pass. */
  readonly horizonMax: number;
  /** Most members of a group; absent for a univariate model. */
  readonly membersMax?: number;
}

/**
 * Contexts of equal length, forecast at once. A row's forecast does not depend on the other rows, unless they are a
 * group.
 */
export interface ForecastBatch {
  readonly rows: number;
  /** One of `contextBuckets`. */
  readonly contextLength: number;
  /** `rows * contextLength`, row-major, oldest first; NaN if nothing was observed. */
  readonly values: Float32Array;
  /** Steps to forecast, 1..horizonMax. */
  readonly horizon: number;
  /**
   * The rows are the members of one group, at most `membersMax`: series with the same cutoff in time, which may depend
   * on each other.
   */
  readonly isGroup?: boolean;
}

export interface Forecaster {
  readonly limits: ForecastLimits;
  /** Medians, `rows * horizon`, row-major, in the units of `values`, always finite. Rejects when `signal` aborts. */
  forecast(batch: ForecastBatch, signal?: AbortSignal): Promise<Float32Array>;
}

export interface QuantileForecast {
  readonly levels: readonly number[];
  /** `rows * horizon * levels.length`, row-major, ascending along the last axis, always finite. */
  readonly values: Float32Array;
}

export interface QuantileForecaster extends Forecaster {
  /** As `forecast`, with every quantile of the model. */
  forecastQuantiles(batch: ForecastBatch, signal?: AbortSignal): Promise<QuantileForecast>;
}

/** The model of a call, and the signal that cancels it. */
export interface Inference {
  readonly forecaster: QuantileForecaster;
  readonly signal?: AbortSignal | undefined;
  /** Rows in flight at most; see folds.ts. */
  readonly rowsInFlightMax?: number | undefined;
}

export function hasQuantiles(forecaster: Forecaster): forecaster is QuantileForecaster {
  return 'forecastQuantiles' in forecaster;
}
