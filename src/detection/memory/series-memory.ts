import { ALARM_STATE, type AlarmTarget } from '../alarm/alarm.ts';
import { BFLOAT_NAN } from '../calibration/bfloat16.ts';
import { CalibrationColumns } from '../calibration/calibration.ts';
import { type ForecastGrid, forecastGrid } from '../calibration/cutoff-grid.ts';
import { CALIBRATION_STATE, RESIDUAL_SUMS } from '../calibration/kept-calibration.ts';
import { layout } from '../calibration/layout.ts';
import { PRECISION_STATE, startPrecision } from '../calibration/precision.ts';
import { RESOLUTION_STATE, startResolution } from '../calibration/resolution.ts';
import type { DetectionSettings } from '../calibration/settings.ts';
import { twoSidedThreshold } from '../calibration/threshold.ts';
import {
  PROFILE_DOUBLES,
  PROFILE_FLOATS,
  type ProfileLayout,
  type ProfileState,
  profileLayout,
  startProfile,
} from '../profile/profile-layout.ts';
import { EXTREME_FLOATS } from './extreme-blocks.ts';
import { shapeLags } from './shape-lags.ts';
import { BLOCKS_MIN, blocksMax } from './slab-size.ts';

/** Numbers of a series that change with every observation, by their place among its scalars. */
const PLACES = layout({
  /** See resolution.ts. */
  resolution: RESOLUTION_STATE.count,
  /** Smallest deviation that residuals of the open window are judged by. */
  floor: 1,
  /** Earlier positions have no value: none was observed, or they lost their precision. */
  contextStart: 1,
  /** Precision of the open window; see precision.ts. */
  precision: PRECISION_STATE.count,
  // What follows is there for alarms alone.
  /** Mean square of each term of the grade, and how many rows it has had; see grade-terms.ts. */
  termSquares: 4,
  termRows: 4,
  /** Largest innovation that the shape search takes as it is. */
  innovationMax: 1,
  /** Deviation by the model's own quantiles, early in the series; 0 without. */
  modelDeviation: 1,
  /** See alarm.ts. */
  alarm: ALARM_STATE.count,
  /** Mean of the last residuals, with their signs; see grade-terms.ts. */
  recentResidual: 1,
  /** Outliers of residuals in a row, or rows behind them; see grade-terms.ts. */
  residualRun: 1,
});
export const SCALARS = PLACES.at;
/**
 * Event times that are kept of a series, for its owner: of position 0, of its newest value, and the newest of any of
 * its records whose time is confirmed.
 */
export const EVENT_TIMES = layout({ origin: 1, newest: 1, arrived: 1 });
/** Most scalars that a state holds. */
export const SCALARS_MAX = PLACES.count;
/**
 * What the series of one detector have in common: its settings, and how the numbers of each are in memory. That is one
 * block of bytes in a slab shared by many series, since typed arrays of its own would cost more than their contents.
 * What a row needs lies together.
 *
 *   float64:  [ scalars | calibration | origin | event times | sums of residuals, without a ring; see SeriesRings ]
 *   float32:  [ context ring | extremes of earlier values ]
 *   bfloat16: [ residual ring | distances of the shape search, nearest lag ]
 *   float16:  [ slots of the seasonal profile; see profile-layout.ts ]
 *   sums:     [ forecast sums of positions windowStart.. | sums of forecasts that join after the window closed ]
 *
 * Sums follow the float32 where each is of one forecast, and the float64 where forecasts overlap. Numbers of the long
 * memory come last in both.
 */
export interface SeriesLayout {
  readonly settings: DetectionSettings;
  /** Grids by their phase, each once it is needed: series of the same phase share one. */
  readonly grids: ForecastGrid[];
  /** Half-width of intervals in deviations. */
  readonly threshold: number;
  /** The least value that there can be: 0 for changes of a counter, which does not fall. */
  readonly least: number;
  readonly contextCapacity: number;
  readonly residualCapacity: number;
  /** True if rows are graded, for alarms. */
  readonly isGraded: boolean;
  /** Accepted false alarms of a series that is scored alone; null for no alarms, and for a member of a group. */
  readonly target: AlarmTarget | null;
  /** Lags that the shape search compares; 0 without a grade. */
  readonly lags: number;
  /** The distances of the lags, and behind them the lag of the smallest, which is a whole number. */
  readonly shapeStart: number;
  readonly extremeStart: number;
  /** Named by SCALARS; those of alarms are omitted where there are none. */
  readonly scalars: number;
  readonly originAt: number;
  readonly eventTimesAt: number;
  /** Place of the sums of residuals, if these are not kept. */
  readonly residualSumsAt: number;
  readonly forecastLength: number;
  readonly laterLength: number;
  /** True if forecasts overlap. */
  readonly overlapping: boolean;
  /** Begin of the sums, among the floats or the doubles. */
  readonly sumStart: number;
  /** The seasonal profile; null if there is none. Its numbers come last. */
  readonly profile: ProfileLayout | null;
  readonly doubles: number;
  readonly floats: number;
  readonly bfloats: number;
  readonly halves: number;
  /** Begin of the numbers of each kind in a block, counted in such numbers; float64 come first. */
  readonly floatsAt: number;
  readonly bfloatsAt: number;
  readonly halvesAt: number;
  /** Memory of one series: a multiple of 8. */
  readonly blockBytes: number;
  /** Closed windows that together refill both rings. */
  readonly windowsKept: number;
}

export function seriesLayout(settings: DetectionSettings): SeriesLayout {
  const { h, detectionSize, stepSize, calibrationSize, context, alarmRate } = settings;
  const isAlone = settings.thresholdMethod === 'univariate';
  const profile = profileOf(settings);
  const overlapping = stepSize < h;
  const contextCapacity = Math.max(context, detectionSize);
  const residualCapacity = calibrationSize === 'all' ? 0 : calibrationSize;
  const lags = alarmRate === null ? 0 : shapeLags(contextCapacity);
  const forecastLength = overlapping ? detectionSize + h : detectionSize;
  const laterLength = overlapping ? detectionSize : 0;
  const sums = forecastLength + laterLength;
  const extremeStart = contextCapacity;
  const plainFloats = extremeStart + EXTREME_FLOATS;
  const scalars = alarmRate === null ? SCALARS.termSquares : PLACES.count;
  const originAt = scalars + CALIBRATION_STATE.count;
  const eventTimesAt = originAt + 1;
  const residualSumsAt = eventTimesAt + EVENT_TIMES.count;
  const plainDoubles = residualSumsAt + (residualCapacity === 0 ? RESIDUAL_SUMS.count : 0);
  const doubles = plainDoubles + (overlapping ? sums : 0) + (profile === null ? 0 : PROFILE_DOUBLES.count);
  const floats = plainFloats + (overlapping ? 0 : sums) + (profile === null ? 0 : PROFILE_FLOATS.count);
  const bfloats = residualCapacity + (lags === 0 ? 0 : lags + 1);
  const residualsPerWindow = Math.max(1, (detectionSize / stepSize) * Math.min(h, stepSize));
  return {
    settings,
    grids: [forecastGrid(settings, 0)],
    threshold: twoSidedThreshold(settings.level),
    least: settings.as === undefined ? Number.NEGATIVE_INFINITY : 0,
    contextCapacity,
    residualCapacity,
    isGraded: alarmRate !== null,
    target: isAlone && alarmRate !== null ? { rate: alarmRate, gap: detectionSize, isGroup: false } : null,
    lags,
    shapeStart: residualCapacity,
    extremeStart,
    scalars,
    originAt,
    eventTimesAt,
    residualSumsAt,
    forecastLength,
    laterLength,
    overlapping,
    sumStart: overlapping ? plainDoubles : plainFloats,
    profile,
    ...placesOfNumbers({ doubles, floats, bfloats, halves: profile?.halves ?? 0 }),
    windowsKept: Math.max(Math.ceil(contextCapacity / detectionSize), Math.ceil(residualCapacity / residualsPerWindow)),
  };
}

export function forecastGridOf({ grids, settings }: SeriesLayout, phase: number): ForecastGrid {
  grids[phase] ??= forecastGrid(settings, phase);
  return grids[phase];
}

/** Alarms alone need it. */
function profileOf({ profile, alarmRate }: DetectionSettings): ProfileLayout | null {
  if (!profile || alarmRate === null) return null;
  return profileLayout(profile.calendar, profile.stepMs);
}

type NumberCounts = Pick<SeriesLayout, 'doubles' | 'floats' | 'bfloats' | 'halves'>;

/** The largest numbers come first, so that each is aligned. */
function placesOfNumbers(counts: NumberCounts) {
  const { doubles, floats, bfloats, halves } = counts;
  const floatsAt = 2 * doubles;
  const bfloatsAt = 2 * (floatsAt + floats);
  const halvesAt = bfloatsAt + bfloats;
  return { ...counts, floatsAt, bfloatsAt, halvesAt, blockBytes: 8 * Math.ceil((halvesAt + halves) / 4) };
}

/** One series' place in a slab. */
export interface SeriesBlock {
  readonly slab: SeriesSlab;
  readonly byteStart: number;
}

/** The bytes of its blocks, as numbers of each kind. */
export interface SeriesSlab {
  readonly memory: SeriesMemory;
  readonly layout: SeriesLayout;
  readonly doubles: Float64Array;
  readonly floats: Float32Array;
  /** Bits of bfloat16 numbers. */
  readonly bfloats: Uint16Array;
  readonly halves: Float16Array;
}

/** Begin of the numbers of a block in its slab. */
export function doubleStartOf({ byteStart }: SeriesBlock): number {
  return byteStart >> 3;
}

export function floatStartOf({ slab, byteStart }: SeriesBlock): number {
  return (byteStart >> 2) + slab.layout.floatsAt;
}

export function bfloatStartOf({ slab, byteStart }: SeriesBlock): number {
  return (byteStart >> 1) + slab.layout.bfloatsAt;
}

/** The seasonal profile of a series. */
export function profileState(block: SeriesBlock, profile: ProfileLayout): ProfileState {
  const { layout, floats, doubles, halves } = block.slab;
  return {
    layout: profile,
    floats,
    floatStart: floatStartOf(block) + layout.floats - PROFILE_FLOATS.count,
    doubles,
    doubleStart: doubleStartOf(block) + layout.doubles - PROFILE_DOUBLES.count,
    halves,
    halfStart: (block.byteStart >> 1) + layout.halvesAt,
  };
}

/**
 * Hands out blocks; a released block is used again. Its series compute one after the other, so that they share what
 * they compute with.
 */
export class SeriesMemory {
  readonly layout: SeriesLayout;
  readonly columns = new CalibrationColumns();
  #ordered = new Float32Array(0);
  readonly #free: SeriesBlock[] = [];
  #blocks = BLOCKS_MIN;
  /** Size of all slabs, free blocks included. */
  bytes = 0;

  constructor(layout: SeriesLayout) {
    this.layout = layout;
  }

  /** A block in which nothing was observed: NaN contexts and residuals, no forecasts. */
  allocate(): SeriesBlock {
    const block = this.#free.pop() ?? this.#grow();
    const { doubles, floats, bfloats, layout } = block.slab;
    const [doubleStart, floatStart, bfloatStart] = [doubleStartOf(block), floatStartOf(block), bfloatStartOf(block)];
    doubles.fill(0, doubleStart, doubleStart + layout.doubles);
    floats.fill(Number.NaN, floatStart, floatStart + layout.floats);
    if (!layout.overlapping) {
      const sumStart = floatStart + layout.sumStart;
      floats.fill(0, sumStart, sumStart + layout.forecastLength + layout.laterLength);
    }
    bfloats.fill(BFLOAT_NAN, bfloatStart, bfloatStart + layout.residualCapacity);
    bfloats.fill(0, bfloatStart + layout.residualCapacity, bfloatStart + layout.bfloats);
    startResolution(doubles, doubleStart + SCALARS.resolution);
    startPrecision(doubles, doubleStart + SCALARS.precision);
    doubles.fill(
      Number.NaN,
      doubleStart + layout.eventTimesAt + EVENT_TIMES.at.newest,
      doubleStart + layout.residualSumsAt,
    );
    if (layout.profile !== null) startProfile(profileState(block, layout.profile));
    return block;
  }

  release(block: SeriesBlock): void {
    this.#free.push(block);
  }

  /** Room for so many residuals in their order. */
  ordered(count: number): Float32Array {
    if (this.#ordered.length < count) this.#ordered = new Float32Array(2 * count);
    return this.#ordered;
  }

  #grow(): SeriesBlock {
    const { layout } = this;
    const blocks = this.#blocks;
    this.#blocks = Math.max(blocks, Math.min(2 * blocks, blocksMax(layout.blockBytes)));
    const buffer = new ArrayBuffer(blocks * layout.blockBytes);
    const slab: SeriesSlab = {
      memory: this,
      layout,
      doubles: new Float64Array(buffer),
      floats: new Float32Array(buffer),
      bfloats: new Uint16Array(buffer),
      halves: new Float16Array(buffer),
    };
    this.bytes += buffer.byteLength;
    for (let i = blocks - 1; i >= 0; i--) this.#free.push({ slab, byteStart: i * layout.blockBytes });
    return this.#free.pop()!;
  }
}
