/** What exogenous variables do to a history that is forecast at many places of it. Arrays are as long as the series. */
export interface ExogenousEffects {
  /** Taken away from what the model sees; null where it sees the series as it is. */
  readonly cleaned: Float64Array | null;
  /**
   * Added to what the model forecasts.
   * @param residuals what it missed so far, NaN where nothing was forecast
   */
  ahead(residuals: Float64Array): Promise<Float64Array>;
  /** Shares of the variables, once `ahead` was called. */
  weights(): Float64Array;
  /** What each variable adds, once `ahead` was called. */
  contributions(): readonly Float64Array[];
}
