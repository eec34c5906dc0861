import assert from 'node:assert/strict';
import { contextBucket } from '../forecast/context-length.ts';
import {
  addResidual,
  type Calibration,
  calibrate,
  calibrationOfSums,
  NO_RESIDUALS,
  type ResidualSums,
} from './calibration.ts';
import { coveringCutoffs, firstCutoff, isCutoff } from './cutoff-grid.ts';
import { forecastedPositions, type SeriesBlock, type SeriesLayout, type SeriesMemory } from './series-memory.ts';
import type { DetectionSettings } from './settings.ts';
import { CALIBRATION_WINDOWS_MIN, isOutside, standardScore } from './threshold.ts';

/**
 * - `warming-up`: no forecast yet, the context is too short
 * - `not-forecasted`: no cutoff covers this position, or nothing was observed in its context
 * - `calibrating`: forecasted, but fewer than 6 detection windows of forecasted samples came before; never flagged
 * - `scored`
 */
export type DetectionState = 'warming-up' | 'not-forecasted' | 'calibrating' | 'scored';

/** What one observation turned out to be. Numbers that do not exist are NaN. */
export interface Detection {
  readonly state: DetectionState;
  readonly position: number;
  /** The detection window is [windowStart, windowStart + detectionSize). */
  readonly windowStart: number;
  readonly forecast: number;
  readonly lo: number;
  readonly hi: number;
  readonly score: number;
  readonly anomaly: boolean;
}

/**
 * Online detection on one series: the state machine of the stream.
 *
 *   observe, observe, ... until `forecastDue`; then `context`, the model, `forecasted`; then observe again.
 *
 * Values are kept as float32 distances from the first value of the series, so that a series far from zero keeps its precision.
 * A point never judges itself: the calibration is fixed when a window opens, from residuals of earlier positions.
 */
export class SeriesDetector {
  readonly settings: DetectionSettings;
  readonly block: SeriesBlock;
  readonly layout: SeriesLayout;
  readonly #threshold: number;
  /** Value that float32 contexts are distances from; NaN until something was observed. */
  origin = Number.NaN;
  /** Positions seen; the next observation has this position. */
  positions = 0;
  /** First position of the open detection window. */
  windowStart = 0;
  /** Forecasted positions before the open window: where the residual ring stands. */
  residualCount = 0;
  sums: ResidualSums = NO_RESIDUALS;
  calibration: Calibration = calibrationOfSums(NO_RESIDUALS);
  /** A forecast from the present position is needed before the next observation. */
  forecastDue = false;

  constructor(settings: DetectionSettings, memory: SeriesMemory, threshold: number) {
    this.settings = settings;
    this.block = memory.allocate();
    this.layout = memory.layout;
    this.#threshold = threshold;
  }

  /** Sets a fresh detector to the beginning of a window, as if everything before had been missing. */
  startAt(windowStart: number): void {
    this.positions = windowStart;
    this.windowStart = windowStart;
    this.residualCount = forecastedPositions(windowStart, this.settings);
    this.forecastDue = isCutoff(windowStart, this.settings);
  }

  /** Takes up a state that was kept elsewhere; rings, forecasts and sums are filled by the caller, then `recalibrate`. */
  resumeAt(positions: number, origin: number, forecastDue: boolean): void {
    this.startAt(positions - (positions % this.settings.detectionSize));
    this.positions = positions;
    this.origin = origin;
    this.forecastDue = forecastDue;
  }

  /** Scores the next observation (NaN: missing) and moves on by one position. */
  observe(value: number): Detection {
    assert(!this.forecastDue, 'the forecast that is due comes before the next observation');
    const position = this.positions;
    const { windowStart, calibration } = this;
    const distance = this.#keep(position, value);
    const forecast = this.#forecastAt(position);
    const residual = distance - forecast;
    const state = this.#stateOf(position, forecast);
    const halfWidth = this.#threshold * calibration.deviation;
    const centre = this.origin + forecast;
    const detection: Detection = {
      state,
      position,
      windowStart,
      forecast: centre,
      lo: centre - halfWidth,
      hi: centre + halfWidth,
      score: standardScore(residual, calibration),
      anomaly: state === 'scored' && isOutside(residual, this.#threshold, calibration.deviation),
    };
    this.positions = position + 1;
    if (this.positions === windowStart + this.settings.detectionSize) this.#closeWindow();
    this.forecastDue = isCutoff(this.positions, this.settings);
    return detection;
  }

  /** Length the context of the forecast that is due is padded to. */
  contextLength(buckets: readonly number[]): number {
    return contextBucket(Math.min(this.positions, this.settings.context), buckets);
  }

  /** Copies the context before the present position, oldest first, NaN on the left, into `target[start, start + length)`. */
  context(target: Float32Array, start: number, length: number): void {
    const { slab, floatStart } = this.block;
    const capacity = this.layout.contextCapacity;
    const available = Math.min(this.positions, this.settings.context, length);
    target.fill(Number.NaN, start, start + length - available);
    const first = (this.positions - available) % capacity;
    const run = Math.min(available, capacity - first);
    const to = start + length - available;
    target.set(slab.floats.subarray(floatStart + first, floatStart + first + run), to);
    if (run < available) target.set(slab.floats.subarray(floatStart, floatStart + available - run), to + run);
  }

  /** Whether anything was observed in the context; without it there is nothing to forecast from. */
  hasContext(): boolean {
    const { slab, floatStart } = this.block;
    const capacity = this.layout.contextCapacity;
    for (let p = this.positions - 1; p >= Math.max(0, this.positions - this.settings.context); p--) {
      if (!Number.isNaN(slab.floats[floatStart + (p % capacity)])) return true;
    }
    return false;
  }

  /** Takes the forecast that was due: medians of the next h positions at `medians[start..]`, or null when there was no context. */
  forecasted(medians: Float32Array | null, start = 0): void {
    assert(this.forecastDue, 'no forecast is due');
    const { slab, doubleStart } = this.block;
    const { h, detectionSize } = this.settings;
    const cutoff = this.positions;
    const windowEnd = this.windowStart + detectionSize;
    const counts = cutoff <= windowEnd - h;
    for (let k = 0; k < h; k++) {
      const position = cutoff + k;
      const later = !counts && position < windowEnd;
      const at = doubleStart + (later ? this.layout.forecastLength : 0) + position - this.windowStart;
      slab.doubles[at] += medians === null ? Number.NaN : medians[start + k];
    }
    this.forecastDue = false;
  }

  /** The last call: its memory is another one's from then on, so a forecast that is still on its way must not reach it. */
  release(memory: SeriesMemory): void {
    this.forecastDue = false;
    memory.release(this.block);
  }

  /** Residuals kept for calibration, oldest first; NaN where the value was missing. */
  residuals(): Float32Array {
    const { residualCapacity } = this.layout;
    const kept = Math.min(this.residualCount, residualCapacity);
    const ordered = new Float32Array(kept);
    for (let i = 0; i < kept; i++) ordered[i] = this.residualAt(this.residualCount - kept + i);
    return ordered;
  }

  /** Recomputes what is derived from the rings and sums; needed after they were restored. */
  recalibrate(): void {
    const { residualCapacity, contextCapacity } = this.layout;
    this.calibration =
      residualCapacity === 0
        ? calibrationOfSums(this.sums)
        : calibrate(this.block.slab.floats, this.block.floatStart + contextCapacity, residualCapacity);
  }

  /** The value at `position` as kept (a distance from the origin), for positions still in the ring. */
  distanceAt(position: number): number {
    return this.block.slab.floats[this.block.floatStart + (position % this.layout.contextCapacity)];
  }

  /** Keeps the value at `position`, given as a distance from the origin. */
  keepDistance(position: number, distance: number): void {
    this.block.slab.floats[this.block.floatStart + (position % this.layout.contextCapacity)] = distance;
  }

  /** The residual of the `index`-th forecasted position, for those still in the ring. */
  residualAt(index: number): number {
    return this.block.slab.floats[this.#residualSlot(index)];
  }

  keepResidual(index: number, residual: number): void {
    this.block.slab.floats[this.#residualSlot(index)] = residual;
  }

  #residualSlot(index: number): number {
    const { contextCapacity, residualCapacity } = this.layout;
    return this.block.floatStart + contextCapacity + (index % residualCapacity);
  }

  #keep(position: number, value: number): number {
    if (Number.isNaN(this.origin)) this.origin = value;
    const distance = Math.fround(value - this.origin);
    this.keepDistance(position, distance);
    return distance;
  }

  /** Mean of the forecasts of `position` that count for the open window, as a distance from the origin. */
  #forecastAt(position: number): number {
    const { h, detectionSize } = this.settings;
    const count = coveringCutoffs(position, this.windowStart + detectionSize - h, this.settings);
    return count === 0
      ? Number.NaN
      : this.block.slab.doubles[this.block.doubleStart + position - this.windowStart] / count;
  }

  #stateOf(position: number, forecast: number): DetectionState {
    if (Number.isNaN(forecast)) return position < firstCutoff(this.settings) ? 'warming-up' : 'not-forecasted';
    return this.calibration.samples < CALIBRATION_WINDOWS_MIN * this.settings.detectionSize ? 'calibrating' : 'scored';
  }

  /** Every forecast of the window has joined: its residuals become calibration, and the next window opens. */
  #closeWindow(): void {
    const { detectionSize } = this.settings;
    for (let i = 0; i < detectionSize; i++) this.#closePosition(this.windowStart + i);
    this.#shiftForecasts();
    this.windowStart += detectionSize;
    this.recalibrate();
  }

  #closePosition(position: number): void {
    const { slab, doubleStart } = this.block;
    const { residualCapacity, forecastLength, laterLength } = this.layout;
    const count = coveringCutoffs(position, position, this.settings);
    if (count === 0) return;
    const at = position - this.windowStart;
    const later = laterLength === 0 ? 0 : slab.doubles[doubleStart + forecastLength + at];
    const forecast = (slab.doubles[doubleStart + at] + later) / count;
    const residual = Math.fround(this.distanceAt(position) - forecast);
    if (residualCapacity === 0) this.sums = addResidual(this.sums, residual);
    else this.keepResidual(this.residualCount, residual);
    this.residualCount++;
  }

  #shiftForecasts(): void {
    const { slab, doubleStart } = this.block;
    const { forecastLength, doubles } = this.layout;
    const { detectionSize } = this.settings;
    const ahead = forecastLength - detectionSize;
    if (ahead > 0) {
      slab.doubles.copyWithin(doubleStart, doubleStart + detectionSize, doubleStart + forecastLength);
    }
    slab.doubles.fill(0, doubleStart + ahead, doubleStart + doubles);
  }
}
