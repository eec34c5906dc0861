import { setImmediate as pause } from 'node:timers/promises';
import {
  concludeDetection,
  type DetectionFold,
  type DetectionInput,
  type DetectionPlan,
  type OnlineDetection,
  planDetection,
} from '../../../detector/batch/batch-detector.ts';
import type { HistoryPlaces } from '../../../detector/batch/grade-history.ts';
import { residualsOf, shiftForecasts } from '../../../detector/batch/history.ts';
import type { ExogenousEffects } from '../../../forecast/exogenous-effects.ts';
import { forecastFolds } from '../../../forecast/folds.ts';
import { type Forecaster, hasQuantiles } from '../../../forecast/forecaster.ts';
import { deviationOfQuantiles } from '../../../forecast/quantile-spread.ts';
import { tuneForRequest } from '../../models/tuned-models.ts';
import { fitSeriesEffects } from '../series/series-effects.ts';
import type { OnlineDetectionQuestion } from './online-detection-question.ts';

/** Scores the last values of each series. */
export async function runOnlineDetection(
  question: OnlineDetectionQuestion,
  signal: AbortSignal,
): Promise<readonly OnlineDetection[]> {
  const { series, settings, model, tuning, offsets, eventStepMs, startsMs } = question;
  const { h, detectionSize, context } = settings;
  // There is one window, at the end. Its values must not be used for training.
  const past = series.values.map((values) => values.subarray(0, Math.max(0, values.length - detectionSize)));
  const { forecaster } = await tuneForRequest(tuning, model, { series: past, horizon: h, contexts: [context], signal });
  const effects = await fitSeriesEffects(question, detectionSize, signal);
  return detectOnline({ series: series.values, settings, forecaster, effects, offsets, eventStepMs, startsMs, signal });
}

interface DetectionRequest extends Pick<DetectionInput, 'series' | 'settings' | 'offsets'>, HistoryPlaces {
  readonly forecaster: Forecaster;
  /** Effects of exogenous variables, one for each series. */
  readonly effects?: readonly ExogenousEffects[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Values of a part of the series. Its histories are planned, and judged where alarms are off, in one turn of the event
 * loop, and its memory is free when it is judged.
 */
const PART_VALUES = 262_144;
/** One is forecast while another one is planned or judged. */
const PARTS_AT_ONCE = 2;
/** Values that are graded before other requests have their turn. */
const GRADED_VALUES = 2_048;

/** Online detection over whole histories with a model. Rejects when the model fails or `signal` aborts. */
export async function detectOnline(request: DetectionRequest): Promise<readonly OnlineDetection[]> {
  const { series, settings, offsets } = request;
  if (offsets !== undefined || settings.thresholdMethod === 'multivariate') return detectPart(request);
  const detections: OnlineDetection[] = [];
  const running: Promise<readonly OnlineDetection[]>[] = [];
  const takeFirst = async () => {
    for (const detection of await running.shift()!) detections.push(detection);
  };
  for (const range of partsOf(series, PART_VALUES)) {
    if (running.length === PARTS_AT_ONCE) await takeFirst();
    const part = detectPart(partOf(request, range));
    // A rejection is handled when the part is taken. It must not count as unhandled before.
    part.catch(() => {});
    running.push(part);
  }
  while (running.length > 0) await takeFirst();
  return detections;
}

/** Series from `start` to before `end`. */
interface SeriesPart {
  readonly start: number;
  readonly end: number;
}

/** Consecutive series with at most so many values, or one of them. */
function partsOf(series: readonly ArrayLike<number>[], valuesMax: number): SeriesPart[] {
  const ranges: SeriesPart[] = [];
  let start = 0;
  let values = 0;
  for (const [i, { length }] of series.entries()) {
    if (i > start && values + length > valuesMax) {
      ranges.push({ start, end: i });
      [start, values] = [i, 0];
    }
    values += length;
  }
  if (start < series.length) ranges.push({ start, end: series.length });
  return ranges;
}

function partOf(request: DetectionRequest, { start, end }: SeriesPart): DetectionRequest {
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
  const { effects, settings } = request;
  const plan = planDetection({ ...request, cleaned: effects?.map(({ subtracted }) => subtracted) });
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
  if (settings.thresholdMethod === 'multivariate' || settings.alarmRate === null)
    return concludeDetection(plan, request);
  const detections: OnlineDetection[] = [];
  for (const range of partsOf(request.series, GRADED_VALUES)) {
    if (detections.length > 0) await pause();
    request.signal?.throwIfAborted();
    const histories = plan.histories.slice(range.start, range.end);
    detections.push(...concludeDetection({ ...plan, histories }, partOf(request, range)));
  }
  return detections;
}

/** @param prior the folds of which every quantile is forecast, for the first rows of a grade */
async function forecastPlan(
  { folds: plan, histories }: DetectionPlan,
  { forecaster, signal }: DetectionRequest,
  prior: readonly DetectionFold[],
): Promise<void> {
  const { horizon } = plan;
  const all = new Set(hasQuantiles(forecaster) ? prior : []);
  let levels: readonly number[] = [];
  await forecastFolds(
    {
      ...plan,
      quantilesOf: (fold) => (all.has(fold) ? 'all' : 'median'),
      async forecast(batch, quantiles) {
        if (quantiles === 'median' || !hasQuantiles(forecaster)) return forecaster.forecast(batch, signal);
        const made = await forecaster.forecastQuantiles(batch, signal);
        levels = made.levels;
        return made.values;
      },
      take(fold, forecast) {
        if (forecast === null || !all.has(fold)) return plan.take(fold, forecast);
        histories[fold.series].modelDeviations.set(fold.cutoff, deviationOfQuantiles(forecast, 0, { levels, horizon }));
        const median = levels.indexOf(0.5);
        plan.take(
          fold,
          Float32Array.from({ length: horizon }, (_, k) => forecast[k * levels.length + median]),
        );
      },
    },
    forecaster.limits,
  );
}
