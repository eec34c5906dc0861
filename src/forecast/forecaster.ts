/**
 * What detection asks of a forecast model. The model room implements it; tests implement it with arithmetic.
 */
export interface ForecastLimits {
  /** Longest context, in observations. */
  readonly context: number;
  /** Context lengths the model is run at, ascending; the last equals `context`. A shorter context is padded on the left to the next one. */
  readonly contextBuckets: readonly number[];
  /** Longest horizon decoded in one pass. */
  readonly horizonMax: number;
  /** Series that can be forecast together, so that one may tell of another; absent where each is forecast alone. */
  readonly membersMax?: number;
}

/** Contexts of equal length, forecast at once. A row's forecast does not depend on the other rows, unless they are a group. */
export interface ForecastBatch {
  readonly rows: number;
  /** One of `contextBuckets`. */
  readonly contextLength: number;
  /** `rows * contextLength`, row-major, oldest first; NaN where nothing was observed. */
  readonly values: Float32Array;
  /** Steps to forecast, 1..horizonMax. */
  readonly horizon: number;
  /** The rows, at most `membersMax`, are series that end at the same time, and may tell of each other. */
  readonly together?: boolean;
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

/** A forecaster that also knows how sure it is. */
export interface QuantileForecaster extends Forecaster {
  /** As `forecast`, with every quantile of the model. */
  forecastQuantiles(batch: ForecastBatch, signal?: AbortSignal): Promise<QuantileForecast>;
}
