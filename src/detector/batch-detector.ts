import { clampToFloat32 } from '../forecast/float32.ts';
import type { FoldPlan } from '../forecast/folds.ts';
import { withGroupContext } from '../forecast/group-context.ts';
import { accumulate, calibrateAccumulation } from './accumulation.ts';
import { type Calibration, calibrate } from './calibration.ts';
import { cutoffsOfWindow } from './cutoff-grid.ts';
import type { DetectionSettings } from './settings.ts';
import {
  CALIBRATION_WINDOWS_MIN,
  isOutside,
  oneSidedThreshold,
  standardScore,
  twoSidedThreshold,
} from './threshold.ts';

/**
 * The last `detectionSize` observations of one series, judged. Arrays have that length; NaN where there is no number.
 */
export interface OnlineDetection {
  readonly forecast: Float64Array;
  readonly lo: Float64Array;
  readonly hi: Float64Array;
  readonly score: Float64Array;
  /** Standardised accumulated score of the time step (multivariate), the same for every series. */
  readonly accumulatedScore: Float64Array | null;
  readonly anomaly: readonly boolean[];
  /** Residuals the score was calibrated on: those before the window, or the whole series when they are too few. */
  readonly calibratedOn: 'before-window' | 'whole-series';
}

/**
 * Online detection over whole histories, straight from its definition: cross-validate up to the series end, calibrate
 * on the residuals before the detection window, score the window. The stream's state machine gives the same numbers one
 * by one.
 *
 *   planDetection -> the model forecasts `folds` (forecast/folds.ts) -> concludeDetection
 */
export interface DetectionPlan {
  readonly settings: DetectionSettings;
  readonly histories: readonly History[];
  /** The forecasts to be made, and where they go. */
  readonly folds: Omit<FoldPlan<DetectionFold>, 'forecast'>;
}

interface DetectionFold {
  readonly series: number;
  readonly cutoff: number;
  readonly time: number;
  /** null: a group member that serves as context only. */
  readonly requested: number | null;
}

/** One history with the sums of its forecasts. Numbers are distances from `origin`, rounded as the model sees them. */
export interface History {
  readonly origin: number;
  readonly values: Float32Array;
  /** The same without the effect of exogenous variables: what the model sees. */
  readonly seen: Float32Array;
  readonly forecastSums: Float64Array;
  readonly forecastCounts: Uint32Array;
}

export interface DetectionInput {
  /** Histories, oldest first, NaN where missing; equally long when the threshold is multivariate. */
  readonly series: readonly ArrayLike<number>[];
  readonly settings: DetectionSettings;
  /** What is subtracted from each series before the model sees it; null where nothing is. */
  readonly cleaned?: readonly (ArrayLike<number> | null)[] | undefined;
  /** Where each series begins on a common axis of time; series are then forecast together. */
  readonly offsets?: readonly number[] | undefined;
}

export function planDetection({ series, settings, cleaned, offsets }: DetectionInput): DetectionPlan {
  const { h, context } = settings;
  const histories = series.map((values, i) => historyOf(values, cleaned?.[i] ?? null));
  const points = histories.flatMap(({ values }, index) =>
    cutoffsOfWindow(values.length, settings).map((cutoff) => ({ series: index, cutoff })),
  );
  const lengths = histories.map(({ values }) => values.length);
  return {
    settings,
    histories,
    folds: {
      folds:
        offsets === undefined
          ? points.map((point, requested) => ({ ...point, requested, time: 0 }))
          : withGroupContext(points, { lengths, offsets, context }),
      horizon: h,
      timeOf: offsets && (({ time }) => time),
      contextLengthOf: ({ cutoff }) => Math.min(cutoff, context),
      fill({ series: index, cutoff }, target) {
        target.set(histories[index].seen.subarray(cutoff - target.length, cutoff));
      },
      take({ series: index, cutoff, requested }, medians) {
        if (requested !== null) addForecast(histories[index], cutoff, h, medians);
      },
    },
  };
}

function historyOf(values: ArrayLike<number>, cleaned: ArrayLike<number> | null): History {
  const { length } = values;
  const origin = firstObserved(values);
  const distances = new Float32Array(length);
  const seen = cleaned === null ? distances : new Float32Array(length);
  for (let i = 0; i < length; i++) {
    distances[i] = clampToFloat32(values[i] - origin);
    if (cleaned !== null) seen[i] = clampToFloat32(values[i] - origin - cleaned[i]);
  }
  const forecastSums = new Float64Array(length);
  return { origin, values: distances, seen, forecastSums, forecastCounts: new Uint32Array(length) };
}

function firstObserved(values: ArrayLike<number>): number {
  for (let i = 0; i < values.length; i++) if (!Number.isNaN(values[i])) return values[i];
  return Number.NaN;
}

function addForecast(history: History, cutoff: number, h: number, medians: Float32Array | null): void {
  for (let k = 0; k < h; k++) {
    history.forecastSums[cutoff + k] += medians === null ? Number.NaN : medians[k];
    history.forecastCounts[cutoff + k]++;
  }
}

/** Observation - forecast of every position; NaN where either is missing. */
export function residualsOf(history: History): Float64Array {
  return Float64Array.from(history.values, (value, position) => value - forecastAt(history, position));
}

/** Moves every forecast by what is added to it at its position. */
export function shiftForecasts(history: History, added: Float64Array): void {
  for (let i = 0; i < added.length; i++) history.forecastSums[i] += history.forecastCounts[i] * added[i];
}

/** Judges the last `detectionSize` observations of every history, once all folds have their forecasts. */
export function concludeDetection({ histories, settings }: DetectionPlan): OnlineDetection[] {
  return settings.thresholdMethod === 'univariate'
    ? histories.map((history) => judgeAlone(history, settings))
    : judgeTogether(histories, settings);
}

function forecastAt(history: History, position: number): number {
  const count = history.forecastCounts[position];
  return count === 0 ? Number.NaN : history.forecastSums[position] / count;
}

/** Residuals of forecasted positions before the window, the newest `calibrationSize` of them. */
function residualsBeforeWindow(history: History, { detectionSize, calibrationSize }: DetectionSettings): Float32Array {
  const before = residualsBefore(history, history.values.length - detectionSize);
  return calibrationSize === 'all' ? before : before.slice(-calibrationSize);
}

function residualsBefore(history: History, end: number): Float32Array {
  const residuals = new Float32Array(Math.max(0, end));
  let count = 0;
  for (let position = 0; position < end; position++) {
    if (history.forecastCounts[position] === 0) continue;
    residuals[count++] = history.values[position] - forecastAt(history, position);
  }
  return residuals.subarray(0, count);
}

function judgeAlone(history: History, settings: DetectionSettings): OnlineDetection {
  const before = calibrate(residualsBeforeWindow(history, settings));
  const enough = before.samples >= CALIBRATION_WINDOWS_MIN * settings.detectionSize;
  const calibration = enough ? before : calibrate(residualsBefore(history, history.values.length));
  const threshold = twoSidedThreshold(settings.level);
  const { residual, ...numbers } = judgeWindow(history, calibration, settings);
  const anomaly = Array.from(residual, (r) => isOutside(r, threshold, calibration.deviation));
  return { ...numbers, accumulatedScore: null, anomaly, calibratedOn: enough ? 'before-window' : 'whole-series' };
}

function judgeTogether(histories: readonly History[], settings: DetectionSettings): OnlineDetection[] {
  const before = calibrateGroup(histories.map((history) => residualsBeforeWindow(history, settings)));
  const enough = before.accumulation.samples >= CALIBRATION_WINDOWS_MIN * settings.detectionSize;
  const { members, accumulation } = enough
    ? before
    : calibrateGroup(histories.map((history) => residualsBefore(history, history.values.length)));
  const windows = histories.map((history, i) => judgeWindow(history, members[i], settings));
  const accumulatedScore = Float64Array.from({ length: settings.detectionSize }, (_, k) =>
    standardScore(accumulate(windows.map(({ score }) => score[k])), accumulation),
  );
  const threshold = oneSidedThreshold(settings.level);
  return windows.map(({ residual, ...numbers }) => ({
    ...numbers,
    accumulatedScore,
    anomaly: Array.from(accumulatedScore, (score, k) => !Number.isNaN(residual[k]) && score > threshold),
    calibratedOn: enough ? 'before-window' : 'whole-series',
  }));
}

/** @param residuals of each member, aligned by time step */
function calibrateGroup(residuals: readonly Float32Array[]): { members: Calibration[]; accumulation: Calibration } {
  const members = residuals.map((own) => calibrate(own));
  return { members, accumulation: calibrateAccumulation(residuals, members) };
}

function judgeWindow(history: History, calibration: Calibration, { detectionSize, level }: DetectionSettings) {
  const start = history.values.length - detectionSize;
  const halfWidth = twoSidedThreshold(level) * calibration.deviation;
  const judged = (of: (position: number) => number) =>
    Float64Array.from({ length: detectionSize }, (_, k) => (start + k < 0 ? Number.NaN : of(start + k)));
  const residual = judged((position) => history.values[position] - forecastAt(history, position));
  const forecast = judged((position) => history.origin + forecastAt(history, position));
  return {
    residual,
    forecast,
    lo: forecast.map((centre) => centre - halfWidth),
    hi: forecast.map((centre) => centre + halfWidth),
    score: residual.map((r) => standardScore(r, calibration)),
  };
}
