/** Effects of exogenous variables on a history that is forecast at many cutoffs. Arrays are as long as the series. */
export interface ExogenousEffects {
  /** The effect that is subtracted from the series before the model is applied; null where none is. */
  readonly subtracted: Float64Array | null;
  /**
   * The effect that is added to the forecasts of the model.
   * @param residuals of the model, NaN where there is no forecast
   */
  added(residuals: Float64Array): Promise<Float64Array>;
  /** Relative weights of the variables; available after `added`. */
  weights(): Float64Array;
  /** Contribution of each variable to the forecasts; available after `added`. */
  contributions(): readonly Float64Array[];
  /** Contribution of each variable at its mean, or at its most frequent category; available after `added`. */
  typical(): readonly number[];
}
