import type { FoldPlan } from '../../forecasting/folds.ts';
import { withGroupContext } from '../../forecasting/group-context.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import { NO_VERDICT, type Verdict } from '../alarm/alarm.ts';
import { cutoffsOfWindow } from '../calibration/cutoff-grid.ts';
import type { DetectionSettings } from '../calibration/settings.ts';
import { PRIOR_ROWS } from '../grade/grade-terms.ts';
import { firstCutoffOf } from './calibrate-history.ts';
import { gradeHistories, type HistoryPlaces } from './grade-history.ts';
import { addForecast, contextBefore, countingCutoffs, type History, historyOf } from './history.ts';
import { type JudgedHistory, judgeEach, judgeTogether } from './judge-histories.ts';
import { TurnRows } from './turn-rows.ts';

/** The last `detectionSize` observations of one series, judged and graded. */
export interface OnlineDetection extends JudgedHistory {
  /** NaN, and no alarm, where alarms are off. */
  readonly grade: Float64Array;
  readonly severity: Float64Array;
  readonly alarm: readonly boolean[];
  /** Revisions of the events of the whole history, where they are wanted; see grade-history.ts. */
  readonly events: readonly AnomalyEvent[];
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
  /** Histories, oldest first, NaN if missing; equally long when the threshold is multivariate. */
  readonly series: readonly ArrayLike<number>[];
  readonly settings: DetectionSettings;
  /** Subtracted from each series before the model sees it; null for nothing. */
  readonly cleaned?: readonly (ArrayLike<number> | null)[] | undefined;
  /** Begin of each series on a common axis of time; series are then forecast together. */
  readonly offsets?: readonly number[] | undefined;
}

/** Yields after each turn of it. */
export function* planDetection({ series, settings, cleaned, offsets }: DetectionInput): Generator<void, DetectionPlan> {
  const { h, context } = settings;
  const turn = new TurnRows();
  const histories: History[] = [];
  for (const [i, values] of series.entries()) {
    histories.push(historyOf(values, cleaned?.[i] ?? null, settings));
    if (turn.isOverWith(values)) yield;
  }
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
      accept({ series: index, cutoff, requested }, medians) {
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
 * Judges the last `detectionSize` observations of every history, once all folds have their forecasts. Grades take long:
 * it yields after each turn of them.
 */
export function* concludeDetection(
  { histories, settings }: DetectionPlan,
  places: HistoryPlaces,
): Generator<void, OnlineDetection[]> {
  const turn = new TurnRows();
  const isGroup = settings.thresholdMethod === 'multivariate';
  const judged = isGroup
    ? yield* judgeTogether(histories, settings, turn)
    : yield* judgeEach(histories, settings, turn);
  if (settings.alarmRate === null) {
    const ungraded = { ...verdictColumns([], settings), events: [] };
    return judged.map((detection) => ({ ...detection, ...ungraded }));
  }
  const graded = yield* gradeHistories(histories, settings, { ...places, turn });
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
