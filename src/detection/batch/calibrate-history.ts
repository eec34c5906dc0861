import type { MemberResiduals } from '../calibration/accumulation.ts';
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
import { cutoffsOfWindow, residualPlaces } from '../calibration/cutoff-grid.ts';
import type { CalibrationSize, DetectionSettings } from '../calibration/settings.ts';
import { floorOfRounded } from '../calibration/threshold.ts';
import { forecastAt, type History } from './history.ts';

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

/** True if nothing was observed in the detection window of a position: an outage, which does not calibrate. */
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

/** The first cutoff of a history; 0 where it has none. */
export function firstCutoffOf({ values }: History, settings: DetectionSettings): number {
  return cutoffsOfWindow(values.length, settings)[0] ?? 0;
}

export interface CalibratedHistory extends MemberResiduals {
  readonly history: History;
}

/** Calibrates on the residuals of a history before its detection window, or on all of them. */
export function calibrateHistory(
  history: History,
  scope: 'before-window' | 'whole-series',
  settings: DetectionSettings,
) {
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
