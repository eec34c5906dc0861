import { accumulate, calibrateAccumulation } from './accumulation.ts';
import { type Calibration, calibrate } from './calibration.ts';
import { contextBucket, cutoffsOfWindow } from './cross-validation.ts';
import type { Forecaster } from './forecast.ts';
import type { DetectionSettings } from './settings.ts';
import {
  CALIBRATION_WINDOWS_MIN,
  isOutside,
  oneSidedThreshold,
  standardScore,
  twoSidedThreshold,
} from './threshold.ts';

/** The last `detectionSize` observations of one series, judged. Arrays have that length; NaN where there is no number. */
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

/** Rows handed to the model at a time; bounds the memory of a large request. */
const BATCH_ROWS_MAX = 512;

/**
 * Online detection over whole histories, straight from its definition: cross-validate up to the series end, calibrate on the
 * residuals before the detection window, score the window. The stream's state machine gives the same numbers one by one.
 * @param series histories, oldest first, NaN where missing; equally long when the threshold is multivariate
 */
export async function detectOnline(
  series: readonly ArrayLike<number>[],
  settings: DetectionSettings,
  forecaster: Forecaster,
  signal?: AbortSignal,
): Promise<OnlineDetection[]> {
  const histories = series.map(distances);
  await crossValidate(histories, settings, forecaster, signal);
  return settings.thresholdMethod === 'univariate'
    ? histories.map((history) => judgeAlone(history, settings))
    : judgeTogether(histories, settings);
}

interface History {
  readonly origin: number;
  /** Distances from the origin, rounded as the model sees them. */
  readonly values: Float32Array;
  readonly forecastSums: Float64Array;
  readonly forecastCounts: Uint32Array;
}

function distances(values: ArrayLike<number>): History {
  const all = Float64Array.from(values);
  const origin = all.find((value) => !Number.isNaN(value)) ?? Number.NaN;
  return {
    origin,
    values: Float32Array.from(all, (value) => value - origin),
    forecastSums: new Float64Array(all.length),
    forecastCounts: new Uint32Array(all.length),
  };
}

async function crossValidate(
  histories: readonly History[],
  settings: DetectionSettings,
  forecaster: Forecaster,
  signal?: AbortSignal,
): Promise<void> {
  const byLength = new Map<number, { history: History; cutoff: number }[]>();
  for (const history of histories) {
    for (const cutoff of cutoffsOfWindow(history.values.length, settings)) {
      const length = contextBucket(Math.min(cutoff, settings.context), forecaster.limits.contextBuckets);
      const folds = byLength.get(length) ?? [];
      if (folds.length === 0) byLength.set(length, folds);
      folds.push({ history, cutoff });
    }
  }
  for (const [length, folds] of byLength) {
    for (let start = 0; start < folds.length; start += BATCH_ROWS_MAX) {
      await forecastFolds(folds.slice(start, start + BATCH_ROWS_MAX), length, settings, forecaster, signal);
    }
  }
}

async function forecastFolds(
  folds: readonly { history: History; cutoff: number }[],
  length: number,
  { h, context }: DetectionSettings,
  forecaster: Forecaster,
  signal?: AbortSignal,
): Promise<void> {
  const values = new Float32Array(folds.length * length).fill(Number.NaN);
  folds.forEach(({ history, cutoff }, row) => {
    const seen = history.values.subarray(Math.max(0, cutoff - Math.min(context, length)), cutoff);
    values.set(seen, (row + 1) * length - seen.length);
  });
  const medians = await forecaster.forecast({ rows: folds.length, contextLength: length, values, horizon: h }, signal);
  folds.forEach(({ history, cutoff }, row) => {
    const blind = values.subarray(row * length, (row + 1) * length).every(Number.isNaN);
    for (let k = 0; k < h; k++) {
      history.forecastSums[cutoff + k]! += blind ? Number.NaN : medians[row * h + k]!;
      history.forecastCounts[cutoff + k]!++;
    }
  });
}

function forecastAt(history: History, position: number): number {
  const count = history.forecastCounts[position]!;
  return count === 0 ? Number.NaN : history.forecastSums[position]! / count;
}

/** Residuals of forecasted positions before the window, the newest `calibrationSize` of them. */
function residualsBeforeWindow(history: History, { detectionSize, calibrationSize }: DetectionSettings): Float32Array {
  const before = residualsBefore(history, history.values.length - detectionSize);
  return calibrationSize === 'all' ? before : before.slice(-calibrationSize);
}

function residualsBefore(history: History, end: number): Float32Array {
  const residuals: number[] = [];
  for (let position = 0; position < end; position++) {
    if (history.forecastCounts[position]! > 0)
      residuals.push(history.values[position]! - forecastAt(history, position));
  }
  return Float32Array.from(residuals);
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
  const windows = histories.map((history, i) => judgeWindow(history, members[i]!, settings));
  const accumulatedScore = Float64Array.from({ length: settings.detectionSize }, (_, k) =>
    standardScore(accumulate(windows.map(({ score }) => score[k]!)), accumulation),
  );
  const threshold = oneSidedThreshold(settings.level);
  return windows.map(({ residual, ...numbers }) => ({
    ...numbers,
    accumulatedScore,
    anomaly: Array.from(accumulatedScore, (score, k) => !Number.isNaN(residual[k]!) && score > threshold),
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
  const residual = judged((position) => history.values[position]! - forecastAt(history, position));
  const forecast = judged((position) => history.origin + forecastAt(history, position));
  return {
    residual,
    forecast,
    lo: forecast.map((centre) => centre - halfWidth),
    hi: forecast.map((centre) => centre + halfWidth),
    score: residual.map((r) => standardScore(r, calibration)),
  };
}
