import type { Static } from 'typebox';
import { meanStepMs, parseFrequency } from '../../calendar/frequency.ts';
import { alarmRateOf, parseFalseAlarms } from '../../detector/alarm/false-alarms.ts';
import type { OnlineDetection } from '../../detector/batch/batch-detector.ts';
import type { DetectionSettings } from '../../detector/calibration/settings.ts';
import { CONTEXT_MIN } from '../../forecast/context-length.ts';
import type { Work } from '../accounts/metering.ts';
import { OUTPUTS_OF_DETECTION, tokensOf } from '../accounts/token-count.ts';
import type { ServedModels } from '../models/served-models.ts';
import { tuneForRequest } from '../models/tuned-models.ts';
import { DEFAULT_LEVEL, intervalKeys } from '../wire/interval-keys.ts';
import { type FieldProblem, fieldProblem, invalidRequest } from '../wire/problem.ts';
import type { OnlineDetectionAnswer, OnlineDetectionBody } from '../wire/schema/online-detection-schema.ts';
import { flagsOf, joined } from '../wire/wire-answer.ts';
import { alignmentOf, alignmentProblems } from './alignment.ts';
import { detectOnline } from './detect-online.ts';
import { effectsOf } from './exogenous-request.ts';
import { tooManyForecasts } from './request-limits.ts';
import { modelOf, seriesProblems, tooShort } from './series-request.ts';
import { splitSeries } from './split-series.ts';
import { windowEvents } from './window-events.ts';

/** Throws an HttpProblem for an invalid request. */
export function onlineDetectionWork(body: OnlineDetectionBody, models: ServedModels): Work {
  const problems = [...seriesProblems(body), ...detectionProblems(body)];
  const model = modelOf(models, body, problems);
  problems.push(...alignmentProblems(body, model));
  if (model === null || problems.length > 0) throw invalidRequest(problems);
  const tokens = tokensOf(body, {
    predicted: body.series.sizes.length * body.detection_size,
    outputs: OUTPUTS_OF_DETECTION,
  });
  const run = async (signal: AbortSignal) => {
    const { context } = model.forecaster.limits;
    const settings = settingsOf(body, context);
    const series = splitSeries(body.series);
    // There is one window, at the end. Its values must not be used for training, whatever `refit` says.
    const past = series.map((values) => values.subarray(0, Math.max(0, values.length - body.detection_size)));
    const scope = { series: past, horizon: body.h, contexts: [context] };
    const tuned = await tuneForRequest(body, model, { ...scope, signal });
    const { forecaster } = tuned;
    const effects = await effectsOf(body, body.detection_size, signal);
    const offsets = alignmentOf(body, tuned);
    const eventStepMs = eventStepOf(body);
    const detections = await detectOnline({ series, settings, forecaster, effects, offsets, eventStepMs, signal });
    return { ...tokens, ...answerOf(body, detections) } satisfies Static<typeof OnlineDetectionAnswer>;
  };
  return { tokens, run };
}

function detectionProblems(body: OnlineDetectionBody): FieldProblem[] {
  const { series, h, detection_size: size, threshold_method: method } = body;
  const { sizes } = series;
  const step = body.step_size ?? h;
  const forecasts = sizes.reduce(
    (sum, length) => sum + Math.max(0, Math.ceil((length - h - CONTEXT_MIN + 1) / step)),
    0,
  );
  const problems = [
    ...tooShort(sizes, Math.max(size, CONTEXT_MIN + h), `for h ${h} and detection_size ${size}`),
    ...tooManyForecasts(forecasts),
  ];
  if (method === 'multivariate' && sizes.some((length) => length !== sizes[0])) {
    problems.push(
      fieldProblem(['body', 'series', 'sizes'], 'series must be equally long for a multivariate threshold'),
    );
  }
  return problems;
}

function settingsOf(body: OnlineDetectionBody, context: number): DetectionSettings {
  const { h, detection_size, step_size, level, threshold_method, model_parameters } = body;
  const size = model_parameters?.calibration_size;
  return {
    h,
    detectionSize: detection_size,
    stepSize: step_size ?? h,
    level: (level ?? DEFAULT_LEVEL).value,
    thresholdMethod: threshold_method ?? 'univariate',
    calibration: model_parameters?.calibration ?? 'plain',
    alarmRate: alarmRateFor(body),
    calibrationSize: typeof size === 'number' ? size : 'all',
    context,
  };
}

/** null where neither grade nor events are asked for, or the frequency has no grid. */
function alarmRateFor({ model_parameters, level, freq }: OnlineDetectionBody): number | null {
  const frequency = parseFrequency(freq);
  if (!(model_parameters?.grade || model_parameters?.events) || frequency === null) return null;
  const falseAlarms = parseFalseAlarms(model_parameters.false_alarms ?? '');
  return alarmRateOf({ falseAlarms, level: level?.value }, frequency);
}

function answerOf(body: OnlineDetectionBody, detections: OnlineDetection[]) {
  const { series, detection_size: size, level, threshold_method, model_parameters } = body;
  const together = threshold_method === 'multivariate';
  const { lo, hi } = intervalKeys(level ?? DEFAULT_LEVEL);
  const numbers = (of: (detection: OnlineDetection) => Float64Array) => joined(detections.map(of));
  let end = 0;
  const idxs = series.sizes.flatMap((length) => {
    end += length;
    return Array.from({ length: size }, (_, k) => end - size + k);
  });
  return {
    mean: numbers(({ forecast }) => forecast),
    sizes: series.sizes.map(() => size),
    idxs: Float64Array.from(idxs),
    anomaly: flagsOf(detections.map(({ anomaly }) => anomaly)),
    anomaly_score: numbers(({ score }) => score),
    ...(together ? { accumulated_anomaly_score: numbers(({ accumulatedScore }) => accumulatedScore!) } : {}),
    ...gradesOf(model_parameters?.grade === true, detections),
    ...eventsOf(body, detections),
    intervals: together ? null : { [lo]: numbers(({ lo }) => lo), [hi]: numbers(({ hi }) => hi) },
  };
}

/** Mean step of the series; null where no events are asked for. */
function eventStepOf({ model_parameters, freq }: OnlineDetectionBody): number | null {
  const frequency = parseFrequency(freq);
  return !model_parameters?.events || frequency === null ? null : meanStepMs(frequency);
}

function eventsOf(body: OnlineDetectionBody, detections: readonly OnlineDetection[]) {
  const stepMs = eventStepOf(body);
  if (body.model_parameters?.events !== true) return {};
  if (stepMs === null) return { events: [] };
  const together = body.threshold_method === 'multivariate';
  const own = together ? detections.slice(0, 1) : detections;
  const { sizes } = body.series;
  return {
    events: own.flatMap(({ events }, i) =>
      windowEvents(events, { stepMs, windowStart: sizes[i] - body.detection_size }),
    ),
  };
}

function gradesOf(wanted: boolean, detections: readonly OnlineDetection[]) {
  if (!wanted) return {};
  return {
    grade: joined(detections.map(({ grade }) => grade)),
    severity: joined(detections.map(({ severity }) => severity)),
    alarm: flagsOf(detections.map(({ alarm }) => alarm)),
  };
}
