import type { FoldPlan } from '../../forecast/folds.ts';
import { withGroupContext } from '../../forecast/group-context.ts';
import type { AnomalyEvent } from '../../record/anomaly-event.ts';
import { NO_VERDICT, type Verdict } from '../alarm/alarm.ts';
import { accumulatedScore, calibrateAccumulation, type MemberResiduals } from '../calibration/accumulation.ts';
import { roundToBfloat16 } from '../calibration/bfloat16.ts';
import {
  addResidual,
  calibrate,
  calibrateRobust,
  calibrationOfSums,
  NO_RESIDUALS,
  type ResidualPlaces,
  type ResidualSums,
} from '../calibration/calibration.ts';
import { cutoffsOfWindow, residualPlaces, stepOfHorizon } from '../calibration/cutoff-grid.ts';
import type { CalibrationSize, DetectionSettings } from '../calibration/settings.ts';
import {
  CALIBRATION_WINDOWS_MIN,
  floorOfRounded,
  judgeDistance,
  oneSidedThreshold,
  twoSidedThreshold,
} from '../calibration/threshold.ts';
import { PRIOR_ROWS } from '../grade/grade-terms.ts';
import { gradeHistories, type HistoryPlaces } from './grade-history.ts';
import {
  addForecast,
  contextBefore,
  countingCutoffs,
  forecastAt,
  type History,
  historyOf,
  isFlatReturnAt,
  originAt,
} from './history.ts';

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
  /** NaN, and no alarm, where alarms are off. */
  readonly grade: Float64Array;
  readonly severity: Float64Array;
  readonly alarm: readonly boolean[];
  /** Revisions of the events of the whole history, where they are wanted; see grade-history.ts. */
  readonly events: readonly AnomalyEvent[];
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
  /**
   * The first of them, whose quantiles give the model's deviation; none where alarms are off. Where series are forecast
   * together they are folds of their own: here a series is alone, as in the stream.
   */
  readonly priorFolds: readonly DetectionFold[];
}

export interface DetectionFold {
  readonly series: number;
  readonly cutoff: number;
  readonly time: number;
  /** null: a group member that serves as context only. */
  readonly requested: number | null;
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
  const histories = series.map((values, i) => historyOf(values, cleaned?.[i] ?? null, settings));
  const points = histories.flatMap(({ values }, index) =>
    cutoffsOfWindow(values.length, settings).map((cutoff) => ({ series: index, cutoff })),
  );
  const lengths = histories.map(({ values }) => values.length);
  const alone = points.map((point, requested) => ({ ...point, requested, time: 0 }));
  return {
    settings,
    histories,
    priorFolds: priorFoldsOf(alone, histories, settings),
    folds: {
      folds: offsets === undefined ? alone : withGroupContext(points, { lengths, offsets, context }),
      horizon: h,
      timeOf: offsets && (({ time }) => time),
      contextLengthOf: ({ cutoff }) => Math.min(cutoff, context),
      fill({ series: index, cutoff }, target) {
        contextBefore(histories[index], cutoff, target);
      },
      take({ series: index, cutoff, requested }, medians) {
        if (requested !== null) addForecast(histories[index], cutoff, h, medians);
      },
    },
  };
}

function priorFoldsOf(folds: readonly DetectionFold[], histories: readonly History[], settings: DetectionSettings) {
  if (settings.alarmRate === null) return [];
  const prior = histories.map((history) => {
    const end = firstCutoffOf(history, settings) + PRIOR_ROWS;
    return new Set(countingCutoffs(history, settings).filter((cutoff) => cutoff < end));
  });
  return folds.filter(({ series, cutoff }) => prior[series].has(cutoff));
}

/**
 * Judges the last `detectionSize` observations of every history, once all folds have their forecasts.
 */
export function concludeDetection(
  { histories, settings }: DetectionPlan,
  places: HistoryPlaces = {},
): OnlineDetection[] {
  const judged =
    settings.thresholdMethod === 'univariate'
      ? histories.map((history) => judgeAlone(history, settings))
      : judgeTogether(histories, settings);
  if (settings.alarmRate === null) {
    const ungraded = { ...verdictColumns([], settings), events: [] };
    return judged.map((detection) => ({ ...detection, ...ungraded }));
  }
  const graded = gradeHistories(histories, settings, places);
  return judged.map((detection, i) => {
    const { verdicts, events } = graded[i];
    return { ...detection, ...verdictColumns(verdicts, settings), events };
  });
}

function verdictColumns(verdicts: readonly Verdict[], { detectionSize }: DetectionSettings) {
  const start = verdicts.length - detectionSize;
  const window = Array.from({ length: detectionSize }, (_, k) => verdicts[start + k] ?? NO_VERDICT);
  return {
    grade: Float64Array.from(window, ({ grade }) => grade),
    severity: Float64Array.from(window, ({ severity }) => severity),
    alarm: window.map(({ alarm }) => alarm),
  };
}

/**
 * Residuals of forecasted positions in [0, end), at most the newest `size`, with how they were forecast. Where they are
 * the newest ones they are rounded as in the ring of the stream.
 */
function residualsBefore(history: History, end: number, size: CalibrationSize, settings: DetectionSettings) {
  const first = firstCutoffOf(history, settings);
  const residuals = new Float32Array(Math.max(0, end - first));
  const empty = emptyWindows(history, settings);
  let count = 0;
  for (let position = first; position < end; position++) {
    if (history.forecastCounts[position] === 0 || empty(position)) continue;
    const residual = Math.fround(history.values[position] - forecastAt(history, position));
    residuals[count++] = size === 'all' ? residual : roundToBfloat16(residual);
  }
  const offset = size === 'all' ? 0 : Math.max(0, count - size);
  const places = residualPlaces(first, offset, settings);
  return { residuals: residuals.subarray(offset, count), places };
}

/** Whether nothing was observed in the detection window of a position: an outage, which does not calibrate. */
function emptyWindows({ values, detectionSize }: History, settings: DetectionSettings): (position: number) => boolean {
  if (settings.thresholdMethod === 'multivariate') return () => false;
  const first = cutoffsOfWindow(values.length, settings)[0] ?? 0;
  const windows = Math.ceil(values.length / detectionSize);
  const isEmpty = Array.from({ length: windows }, (_, back) => {
    const start = values.length - (back + 1) * detectionSize;
    return start >= first && values.subarray(start, start + detectionSize).every(Number.isNaN);
  });
  return (position) => isEmpty[Math.floor((values.length - 1 - position) / detectionSize)];
}

function firstCutoffOf({ values }: History, settings: DetectionSettings): number {
  return cutoffsOfWindow(values.length, settings)[0] ?? 0;
}

interface CalibratedHistory extends MemberResiduals {
  readonly history: History;
}

function calibrateHistory(history: History, scope: 'before-window' | 'whole-series', settings: DetectionSettings) {
  const { detectionSize, calibration: method, calibrationSize } = settings;
  const end = history.values.length;
  const { residuals, places } =
    scope === 'before-window'
      ? residualsBefore(history, end - detectionSize, calibrationSize, settings)
      : residualsBefore(history, end, 'all', settings);
  const floor = scope === 'before-window' ? history.floorBeforeWindow : history.floor;
  const rounded = scope === 'before-window' && calibrationSize !== 'all';
  const recent = scope === 'whole-series' || rounded;
  const calibration =
    method === 'plain'
      ? calibrate(residuals)
      : recent
        ? calibrateRobust(residuals, places, { floor })
        : calibrationOfSums(sumResiduals(residuals, places), method);
  const yardstick = { method, calibration, floor: rounded ? floorOfRounded(floor, calibration) : floor };
  return { history, residuals, places, yardstick } satisfies CalibratedHistory;
}

function sumResiduals(residuals: Float32Array, places: ResidualPlaces): ResidualSums {
  return residuals.reduce((sums, r, i) => addResidual(sums, r, i, { method: 'robust', places }), NO_RESIDUALS);
}

type Judged = Omit<OnlineDetection, keyof Verdict | 'events'>;

function judgeAlone(history: History, settings: DetectionSettings): Judged {
  const before = calibrateHistory(history, 'before-window', settings);
  const enough = before.yardstick.calibration.samples >= CALIBRATION_WINDOWS_MIN * settings.detectionSize;
  const calibrated = enough ? before : calibrateHistory(history, 'whole-series', settings);
  const { outside, residual: _, ...numbers } = judgeWindow(calibrated, settings);
  return {
    ...numbers,
    accumulatedScore: null,
    anomaly: outside,
    calibratedOn: enough ? 'before-window' : 'whole-series',
  };
}

function judgeTogether(histories: readonly History[], settings: DetectionSettings): Judged[] {
  const before = histories.map((history) => calibrateHistory(history, 'before-window', settings));
  const enough = calibrateAccumulation(before).samples >= CALIBRATION_WINDOWS_MIN * settings.detectionSize;
  const members = enough ? before : histories.map((history) => calibrateHistory(history, 'whole-series', settings));
  const accumulation = calibrateAccumulation(members);
  const windows = members.map((member) => judgeWindow(member, settings));
  const accumulated = Float64Array.from({ length: settings.detectionSize }, (_, k) =>
    accumulatedScore(
      windows.map(({ score }) => score[k]),
      accumulation,
    ),
  );
  const threshold = oneSidedThreshold(settings.level);
  return windows.map(({ residual, outside: _, ...numbers }) => ({
    ...numbers,
    accumulatedScore: accumulated,
    anomaly: Array.from(accumulated, (score, k) => !Number.isNaN(residual[k]) && score > threshold),
    calibratedOn: enough ? 'before-window' : 'whole-series',
  }));
}

function judgeWindow({ history, yardstick }: CalibratedHistory, settings: DetectionSettings) {
  const { detectionSize, level } = settings;
  const start = history.values.length - detectionSize;
  const threshold = twoSidedThreshold(level);
  const first = firstCutoffOf(history, settings);
  // One buffer: each is memory outside of the heap, whose collector counts them.
  const columns = new Float64Array(5 * detectionSize).fill(Number.NaN);
  const column = (i: number) => columns.subarray(i * detectionSize, (i + 1) * detectionSize);
  const window = { residual: column(0), forecast: column(1), lo: column(2), hi: column(3), score: column(4) };
  const outside = new Array<boolean>(detectionSize).fill(false);
  const capacity = Math.max(settings.context, detectionSize);
  for (let k = Math.max(0, -start); k < detectionSize; k++) {
    const position = start + k;
    const distance = history.values[position];
    const row = { distance, forecast: forecastAt(history, position), step: stepOfHorizon(position, first, settings) };
    const isBack = () => isFlatReturnAt(history, position, capacity);
    const { expected, judgement } = judgeDistance(row, threshold, yardstick, isBack);
    const centre = originAt(history, position) + expected;
    window.residual[k] = distance - expected;
    window.forecast[k] = centre;
    window.lo[k] = centre + judgement.lo;
    window.hi[k] = centre + judgement.hi;
    window.score[k] = judgement.score;
    outside[k] = judgement.outside;
  }
  return { ...window, outside };
}
