import {
  concludeDetection,
  type DetectionInput,
  type OnlineDetection,
  planDetection,
  residualsOf,
  shiftForecasts,
} from '../../detector/batch-detector.ts';
import type { ExogenousEffects } from '../../forecast/exogenous-effects.ts';
import { forecastFolds } from '../../forecast/folds.ts';
import type { Forecaster } from '../../forecast/forecaster.ts';

export interface DetectionRequest extends Pick<DetectionInput, 'series' | 'settings' | 'offsets'> {
  readonly forecaster: Forecaster;
  /** Of exogenous variables, one for each series. */
  readonly effects?: readonly ExogenousEffects[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Online detection over whole histories with a model. Rejects when the model fails or `signal` aborts. */
export async function detectOnline(request: DetectionRequest): Promise<OnlineDetection[]> {
  const { forecaster, effects, signal } = request;
  const plan = planDetection({ ...request, cleaned: effects?.map(({ subtracted }) => subtracted) });
  await forecastFolds({ ...plan.folds, forecast: (batch) => forecaster.forecast(batch, signal) }, forecaster.limits);
  for (const [i, history] of plan.histories.entries()) {
    const added = await effects?.[i]?.added(residualsOf(history));
    if (added !== undefined) shiftForecasts(history, added);
  }
  return concludeDetection(plan);
}
