import { accumulatedScore, calibrateAccumulation } from '../calibration/accumulation.ts';
import { stepOfHorizon } from '../calibration/cutoff-grid.ts';
import type { DetectionSettings } from '../calibration/settings.ts';
import {
  CALIBRATION_WINDOWS_MIN,
  judgeDistance,
  oneSidedThreshold,
  twoSidedThreshold,
} from '../calibration/threshold.ts';
import { type CalibratedHistory, calibrateHistory, firstCutoffOf } from './calibrate-history.ts';
import { forecastAt, type History, isFlatReturnAt, originAt } from './history.ts';
import type { TurnRows } from './turn-rows.ts';

/**
 * The last `detectionSize` observations of one series, judged. Arrays have that length; NaN if there is no number.
 */
export interface JudgedHistory {
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

/** Judges each history alone. Yields after each turn. */
export function* judgeEach(
  histories: readonly History[],
  settings: DetectionSettings,
  turn: TurnRows,
): Generator<void, JudgedHistory[]> {
  const judged: JudgedHistory[] = [];
  for (const history of histories) {
    judged.push(judgeAlone(history, settings));
    if (turn.isOverWith(history.values)) yield;
  }
  return judged;
}

function judgeAlone(history: History, settings: DetectionSettings): JudgedHistory {
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

/** All histories by one score of each time step. Yields after each turn. */
export function* judgeTogether(
  histories: readonly History[],
  settings: DetectionSettings,
  turn: TurnRows,
): Generator<void, JudgedHistory[]> {
  const before = yield* calibrateEach(histories, 'before-window', { settings, turn });
  const enough = calibrateAccumulation(before).samples >= CALIBRATION_WINDOWS_MIN * settings.detectionSize;
  const members = enough ? before : yield* calibrateEach(histories, 'whole-series', { settings, turn });
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

function* calibrateEach(
  histories: readonly History[],
  scope: 'before-window' | 'whole-series',
  { settings, turn }: { readonly settings: DetectionSettings; readonly turn: TurnRows },
): Generator<void, CalibratedHistory[]> {
  const calibrated: CalibratedHistory[] = [];
  for (const history of histories) {
    calibrated.push(calibrateHistory(history, scope, settings));
    if (turn.isOverWith(history.values)) yield;
  }
  return calibrated;
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
  const series = { isBackAt: (position: number) => isFlatReturnAt(history, position, capacity) };
  for (let k = Math.max(0, -start); k < detectionSize; k++) {
    const position = start + k;
    const distance = history.values[position];
    const forecast = forecastAt(history, position);
    const row = { position, distance, forecast, step: stepOfHorizon(position, first, settings) };
    const { expected, judgement } = judgeDistance(row, threshold, yardstick, series);
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
