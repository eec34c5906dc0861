import assert from 'node:assert/strict';
import { contextBucket } from '../../forecasting/context-length.ts';
import { judgeRow, NO_VERDICT, type Unusualness, type Verdict } from '../alarm/alarm.ts';
import type { Detection } from '../alarm/detection.ts';
import {
  addResidual,
  calibrate,
  calibrateRobust,
  calibrationOfSums,
  NO_RESIDUALS,
  type ResidualPlaces,
} from '../calibration/calibration.ts';
import {
  forecastedPositions,
  isCutoff,
  residualPlaces,
  stepOfHorizon,
  windowStartOf,
} from '../calibration/cutoff-grid.ts';
import { precisionLost, startPrecision } from '../calibration/precision.ts';
import { countedValue, deviationFloor } from '../calibration/resolution.ts';
import type { DetectionSettings } from '../calibration/settings.ts';
import { CALIBRATION_WINDOWS_MIN, floorOfRounded, judgeDistance, type Yardstick } from '../calibration/threshold.ts';
import { judgeAlone } from '../event/alarm/judge-alone.ts';
import { recordExtremes } from '../event/kind/event-extremes.ts';
import { isFlatReturn } from '../grade/flat-return.ts';
import { PRIOR_ROWS, scoreTerms } from '../grade/grade-terms.ts';
import { restoreShapes } from '../grade/shape-search.ts';
import {
  addToWindow,
  finalForecast,
  forgetForecasts,
  keptForecast,
  shiftWindow,
  standingForecast,
} from '../memory/open-window.ts';
import { forecastGridOf, SCALARS, type SeriesMemory } from '../memory/series-memory.ts';
import { SeriesRings } from '../memory/series-rings.ts';

/**
 * Online detection on one series: the state machine of the stream.
 *
 *   score, score, ... until `forecastDue`; then `context`, the model, `forecasted`; then score again.
 *
 * Values are kept as float32 distances from the first value of the series, so that a series far from zero keeps its
 * precision. A point never judges itself: the calibration is fixed when a window opens, from residuals of earlier
 * positions.
 *
 * Its own methods are private by their types: one with a # would be a further field of each of many series.
 */
export class SeriesDetector extends SeriesRings {
  /** Positions seen; the next observation has this position. */
  positions = 0;
  /** Forecasted positions before the open window, without empty windows: the position of the residual ring. */
  residualCount = 0;
  /** Windows that have closed with something observed in them. */
  closedWindows = 0;
  /** A forecast from the present position is needed before the next observation. */
  forecastDue = false;

  constructor(memory: SeriesMemory) {
    super(memory);
    this.origin = Number.NaN;
    this.calibration = calibrationOfSums(NO_RESIDUALS, this.settings.calibration);
  }

  /** Its numbers. They are those of the same object, since a second one for each series would take more memory. */
  get rings(): SeriesRings {
    return this;
  }

  get settings(): DetectionSettings {
    return this.layout.settings;
  }

  /** First position of the open detection window. */
  get windowStart(): number {
    return windowStartOf(this.positions, this.grid, this.settings);
  }

  /** Position at which the first window ends, if it is not a whole one. Set before the first observation. */
  set phase(phase: number) {
    this.grid = forecastGridOf(this.layout, phase);
  }

  /** Sets a fresh detector to the beginning of a window, as if everything before had been missing. */
  startAt(windowStart: number): void {
    this.rings.setScalar(SCALARS.contextStart, windowStart);
    this.positions = windowStart;
    this.residualCount = forecastedPositions(windowStart, this.grid);
    const { detectionSize } = this.settings;
    this.closedWindows = Math.floor(
      (windowStart + ((detectionSize - this.grid.phase) % detectionSize)) / detectionSize,
    );
    this.forecastDue = isCutoff(windowStart, this.grid);
  }

  /** Continues a kept state. The caller fills rings, forecasts and sums, then calls `restored`. */
  resumeAt(positions: number, origin: number, forecastDue: boolean): void {
    this.startAt(windowStartOf(positions, this.grid, this.settings));
    this.rings.setScalar(SCALARS.contextStart, 0);
    this.positions = positions;
    this.origin = origin;
    this.forecastDue = forecastDue;
  }

  /** Scores the next observation (NaN: missing) and moves on. The seasonal profile learns where its time is given. */
  score(observed: number, timestampMs = Number.NaN): Detection {
    assert(!this.forecastDue, 'the forecast that is due comes before the next observation');
    const { positions: position, windowStart } = this;
    const value = countedValue(this.doubles, this.scalarIndex(SCALARS.resolution), observed);
    if (Number.isNaN(this.origin)) this.origin = value;
    const distance = this.distanceOf(value);
    this.rings.keepDistance(position, distance);
    const forecast = standingForecast(this.rings, windowStart, position);
    const yardstick = this.yardstick();
    const state = this.stateOf(position, forecast, yardstick.calibration.samples);
    // One object for all that judges the row: each further one is garbage of every observation.
    const step = stepOfHorizon(position, this.grid.first, this.settings);
    const row = { position, value, distance, forecast, step, timestampMs };
    const { expected, judgement } = judgeDistance(row, this.layout.threshold, yardstick, this);
    const centre = this.origin + expected;
    const { least } = this.layout;
    const unusual = this.layout.isGraded ? scoreTerms(this.rings, row) : null;
    this.rings.recordScalars(value, distance);
    const verdict = judgeAlone(this.rings, this.verdictOn(unusual), row, unusual?.moved);
    const detection: Detection = {
      state,
      position,
      windowStart,
      forecast: Math.max(least, centre),
      lo: Math.max(least, centre + judgement.lo),
      hi: Math.max(least, centre + judgement.hi),
      score: judgement.score,
      anomaly: state === 'scored' && judgement.outside,
      unusual,
      grade: verdict.grade,
      severity: verdict.severity,
      alarm: verdict.alarm,
      threshold: verdict.threshold,
      season: verdict.season,
      elevated: verdict.elevated,
      outsideProfile: verdict.outsideProfile,
    };
    this.positions = position + 1;
    if (this.positions === windowStart + this.settings.detectionSize) this.closeWindow(windowStart);
    this.forecastDue = isCutoff(this.positions, this.grid);
    return detection;
  }

  isBackAt(position: number): boolean {
    return isFlatReturn(this.rings, position);
  }

  /** Scale of the residuals of the open window. */
  yardstick(): Yardstick {
    const { layout, calibration } = this;
    const own = this.scalar(SCALARS.floor);
    const floor = layout.residualCapacity === 0 ? own : floorOfRounded(own, calibration);
    return { method: this.settings.calibration, calibration, floor };
  }

  /** Length the context of the forecast that is due is padded to. */
  contextLength(buckets: readonly number[]): number {
    return contextBucket(Math.min(this.positions, this.settings.context), buckets);
  }

  /**
   * Copies the context before the present position, oldest first, NaN on the left, into `target[start, start +
   * length)`.
   */
  context(target: Float32Array, start: number, length: number): void {
    const available = Math.min(this.positions, this.settings.context, length);
    target.fill(Number.NaN, start, start + length - available);
    const kept = target.subarray(start + length - available, start + length);
    this.rings.copyDistances(kept, this.positions - available, this.positions);
  }

  /** True if anything was observed in the context; without it there is nothing to forecast from. */
  hasContext(): boolean {
    return this.rings.hasValue(this.positions - this.settings.context, this.positions);
  }

  /** True if the forecast that is due should come with the deviation of the model: early, while residuals are few. */
  get wantsQuantiles(): boolean {
    return this.layout.isGraded && this.forecastCounts && this.positions < this.grid.first + PRIOR_ROWS;
  }

  /** True if a forecast from the present position counts for the open window. */
  private get forecastCounts(): boolean {
    const { h, detectionSize } = this.settings;
    return this.positions <= this.windowStart + detectionSize - h;
  }

  /**
   * Accepts the forecast that was due: medians of the next h positions at `medians[start..]`, or null when there was no
   * context.
   * @param modelDeviation by the model's quantiles; 0 where they were not requested
   */
  forecasted(medians: Float32Array | null, start = 0, modelDeviation = 0): void {
    assert(this.forecastDue, 'no forecast is due');
    const least = this.layout.least - this.origin;
    for (let i = start; medians !== null && i < start + this.settings.h; i++) medians[i] = Math.max(least, medians[i]);
    addToWindow(this.rings, { windowStart: this.windowStart, cutoff: this.positions, medians, from: start });
    if (this.layout.isGraded && this.forecastCounts) this.rings.setScalar(SCALARS.modelDeviation, modelDeviation);
    this.forecastDue = false;
  }

  /** The last call: its memory is another one's from then on, and a forecast on its way must not reach it. */
  override release(): void {
    this.forecastDue = false;
    super.release();
  }

  /** The forecasts behind the newest `kept` residuals. */
  residualPlaces(kept: number): ResidualPlaces {
    return residualPlaces(this.grid.first, this.residualCount - kept, this.settings);
  }

  /**
   * Recomputes what is derived from rings, scalars and sums, after all of them were restored. Scalars that were not
   * kept, with a floor of NaN, are derived, too.
   */
  restored(): void {
    if (Number.isNaN(this.rings.scalar(SCALARS.floor))) this.deriveScalars();
    if (this.layout.isGraded) restoreShapes(this.rings, this.positions);
    this.recalibrate();
  }

  private recalibrate(): void {
    const { rings } = this;
    const { calibration } = this.settings;
    if (this.layout.residualCapacity === 0) {
      rings.calibration = calibrationOfSums(rings.residualSums, calibration);
      return;
    }
    const kept = rings.residualsForNow(this.residualCount);
    rings.calibration =
      calibration === 'plain'
        ? calibrate(kept)
        : calibrateRobust(kept, this.residualPlaces(kept.length), {
            floor: rings.scalar(SCALARS.floor),
            columns: rings.slab.memory.columns,
          });
  }

  /** The verdict on a member of a group is the group's. */
  private verdictOn(unusual: Unusualness | null): Verdict {
    const { target } = this.layout;
    if (target === null) return NO_VERDICT;
    return judgeRow(this.rings.doubles, this.rings.scalarIndex(SCALARS.alarm), unusual, target);
  }

  /** As if the values in the ring were all that was observed so far. */
  private deriveScalars(): void {
    const { rings, windowStart } = this;
    const oldest = Math.max(0, this.positions - this.layout.contextCapacity);
    for (let position = oldest; position < this.positions; position++) {
      if (position === windowStart) this.openWindow();
      const distance = rings.distanceAt(position);
      const value = this.origin + distance;
      const forecast = keptForecast(this, position);
      this.verdictOn(this.layout.isGraded ? scoreTerms(this.rings, { position, value, distance, forecast }) : null);
      this.rings.recordScalars(value, distance);
    }
    if (this.positions === windowStart) this.openWindow();
  }

  private openWindow(): void {
    const { rings } = this;
    startPrecision(rings.doubles, rings.scalarIndex(SCALARS.precision));
    rings.setScalar(SCALARS.floor, deviationFloor(rings.doubles, rings.scalarIndex(SCALARS.resolution)));
  }

  private stateOf(position: number, forecast: number, samples: number): Detection['state'] {
    if (Number.isNaN(forecast)) return position < this.grid.first ? 'warming-up' : 'not-forecasted';
    return samples < CALIBRATION_WINDOWS_MIN * this.settings.detectionSize ? 'calibrating' : 'scored';
  }

  /** Every forecast of the window has joined: its residuals become calibration, and the next window opens. */
  private closeWindow(start: number): void {
    const end = this.positions;
    const alone = this.settings.thresholdMethod === 'univariate' && start >= this.grid.first;
    // After an outage the residuals before it continue to calibrate. Members of a group keep in step with each other.
    if (!alone || this.rings.hasValue(start, end)) {
      for (let position = start; position < end; position++) this.closePosition(start, position);
      this.closedWindows++;
    }
    shiftWindow(this.rings);
    if (start >= 0) recordExtremes(this, start, end);
    if (precisionLost(this.rings.doubles, this.rings.scalarIndex(SCALARS.precision))) this.forgetContext();
    this.openWindow();
    this.recalibrate();
  }

  /** The values so far were rounded away next to the origin: the next one is the new origin. Residuals stay. */
  private forgetContext(): void {
    this.origin = Number.NaN;
    this.rings.setScalar(SCALARS.contextStart, this.windowStart);
    this.rings.forgetDistances();
    forgetForecasts(this.rings, this.windowStart);
  }

  private closePosition(windowStart: number, position: number): void {
    const forecast = finalForecast(this.rings, windowStart, position);
    if (forecast === null) return;
    const residual = Math.fround(this.rings.distanceAt(position) - forecast);
    if (this.layout.residualCapacity === 0) {
      const how = {
        method: this.settings.calibration,
        places: residualPlaces(this.grid.first, 0, this.settings),
      };
      this.rings.residualSums = addResidual(this.rings.residualSums, residual, this.residualCount, how);
    } else this.rings.keepResidual(this.residualCount, residual);
    this.residualCount++;
  }
}
