import { setImmediate as pause } from 'node:timers/promises';
import {
  concludeDetection,
  type DetectionFold,
  type DetectionInput,
  type DetectionPlan,
  type OnlineDetection,
  planDetection,
} from '../../../detection/batch/batch-detector.ts';
import type { HistoryPlaces } from '../../../detection/batch/grade-history.ts';
import { residualsOf, shiftForecasts } from '../../../detection/batch/history.ts';
import { forecastFolds } from '../../../forecasting/folds.ts';
import { type Forecaster, hasQuantiles } from '../../../forecasting/forecaster.ts';
import type { ExogenousEffects } from '../../../forecasting/in-sample.ts';
import { deviationOfQuantiles } from '../../../forecasting/quantile-spread.ts';
import { tuneForRequest } from '../../models/tuned-models.ts';
import { inParts, type RequestPart } from '../series/request-parts.ts';
import { fitSeriesEffects } from '../series/series-effects.ts';
import type { OnlineDetectionQuestion } from './online-detection-question.ts';

export async function runOnlineDetection(
  question: OnlineDetectionQuestion,
  signal: AbortSignal,
): Promise<readonly OnlineDetection[]> {
  const { series, settings, model, tuning, offsets, eventStepMs, startsMs } = question;
  const { h, detectionSize, context } = settings;
  // There is one window, at the end. Its values must not be used for training.
  const past = series.values.map((values) => values.subarray(0, Math.max(0, values.length - detectionSize)));
  const scope = { series: past, horizon: h, contexts: [context], signal };
  const { forecaster } = await tuneForRequest(tuning, model, scope);
  const effects = await fitSeriesEffects(question, detectionSize, signal);
  return detectOnline({ series: series.values, settings, forecaster, effects, offsets, eventStepMs, startsMs, signal });
}

interface DetectionRequest extends Pick<DetectionInput, 'series' | 'settings' | 'offsets'>, HistoryPlaces {
  readonly forecaster: Forecaster;
  /** Effects of exogenous variables, one for each series. */
  readonly effects?: readonly ExogenousEffects[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Rows in flight at most; see folds.ts. */
  readonly rowsInFlightMax?: number | undefined;
}

/** Online detection over whole histories with a model. Rejects when the model fails or `signal` aborts. */
export async function detectOnline(request: DetectionRequest): Promise<readonly OnlineDetection[]> {
  const { series, settings, offsets } = request;
  if (offsets !== undefined || settings.thresholdMethod === 'multivariate') return detectPart(request);
  return inParts(series, (part, rowsInFlightMax) => detectPart({ ...partOf(request, part), rowsInFlightMax }));
}

function partOf(request: DetectionRequest, { start, end }: RequestPart): DetectionRequest {
  const { series, effects, startsMs, first = 0 } = request;
  return {
    ...request,
    series: series.slice(start, end),
    effects: effects?.slice(start, end),
    startsMs: startsMs?.slice(start, end),
    first: first + start,
  };
}

async function detectPart(request: DetectionRequest): Promise<readonly OnlineDetection[]> {
  const { effects } = request;
  const cleaned = effects?.map(({ subtracted }) => subtracted);
  const plan = await inTurns(planDetection({ ...request, cleaned }), request.signal);
  const together = plan.folds.timeOf !== undefined;
  await forecastPlan(plan, request, together ? [] : plan.priorFolds);
  if (together) {
    const alone = { ...plan.folds, folds: plan.priorFolds, timeOf: undefined, take() {} };
    await forecastPlan({ ...plan, folds: alone }, request, plan.priorFolds);
  }
  for (const [i, history] of plan.histories.entries()) {
    const added = await effects?.[i]?.added(residualsOf(history));
    if (added !== undefined) shiftForecasts(history, added);
  }
  return inTurns(concludeDetection(plan, request), request.signal);
}

/** Other requests have theirs between them. */
async function inTurns<T>(turns: Generator<void, T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const { done, value } = turns.next();
    if (done) return value;
    await pause();
    signal?.throwIfAborted();
  }
}

/** @param prior the folds of which every quantile is forecast, for the first rows of a grade */
async function forecastPlan(
  { folds: plan, histories }: DetectionPlan,
  { forecaster, signal, rowsInFlightMax }: DetectionRequest,
  prior: readonly DetectionFold[],
): Promise<void> {
  const { horizon } = plan;
  const all = new Set(hasQuantiles(forecaster) ? prior : []);
  let levels: readonly number[] = [];
  await forecastFolds(
    {
      ...plan,
      rowsInFlightMax,
      quantilesOf: (fold) => (all.has(fold) ? 'all' : 'median'),
      async forecast(batch, quantiles) {
        if (quantiles === 'median' || !hasQuantiles(forecaster)) return forecaster.forecast(batch, signal);
        const made = await forecaster.forecastQuantiles(batch, signal);
        levels = made.levels;
        return made.values;
      },
      accept(fold, forecast) {
        if (forecast === null || !all.has(fold)) return plan.accept(fold, forecast);
        histories[fold.series].modelDeviations.set(fold.cutoff, deviationOfQuantiles(forecast, 0, { levels, horizon }));
        const median = levels.indexOf(0.5);
        plan.accept(
          fold,
          Float32Array.from({ length: horizon }, (_, k) => forecast[k * levels.length + median]),
        );
      },
    },
    forecaster.limits,
  );
}
