import { clampToFloat32 } from '../../forecasting/float32.ts';
import { bfloatBits, ofBfloatBits } from '../calibration/bfloat16.ts';
import type { Calibration, ResidualSums } from '../calibration/calibration.ts';
import type { ForecastGrid } from '../calibration/cutoff-grid.ts';
import {
  keepCalibration,
  keepResidualSums,
  keptCalibration,
  keptResidualSums,
} from '../calibration/kept-calibration.ts';
import { recordPrecision } from '../calibration/precision.ts';
import { recordResolution } from '../calibration/resolution.ts';
import type { ProfileState } from '../profile/profile-layout.ts';
import { EXTREME_FLOATS } from './extreme-blocks.ts';
import {
  bfloatStartOf,
  doubleStartOf,
  EVENT_TIMES,
  floatStartOf,
  forecastGridOf,
  profileState,
  SCALARS,
  type SeriesBlock,
  type SeriesLayout,
  type SeriesMemory,
  type SeriesSlab,
} from './series-memory.ts';

/**
 * The kept numbers of one series: its newest values and residuals in rings, and scalars. Values are float32 distances
 * from an origin, residuals bfloat16.
 */
export class SeriesRings implements SeriesBlock {
  readonly slab: SeriesSlab;
  readonly byteStart: number;
  /** By it windows end and forecasts are made. */
  grid: ForecastGrid;

  constructor(memory: SeriesMemory) {
    const { slab, byteStart } = memory.allocate();
    this.grid = forecastGridOf(memory.layout, 0);
    this.slab = slab;
    this.byteStart = byteStart;
  }

  /** The last call. The memory belongs to another series from then on. */
  release(): void {
    const { slab, byteStart } = this;
    slab.memory.release({ slab, byteStart });
  }

  get layout(): SeriesLayout {
    return this.slab.layout;
  }

  get floatStart(): number {
    return floatStartOf(this);
  }

  get doubleStart(): number {
    return doubleStartOf(this);
  }

  get bfloatStart(): number {
    return bfloatStartOf(this);
  }

  /** Value that float32 contexts are distances from; NaN until something was observed. */
  get origin(): number {
    return this.doubles[this.doubleStart + this.layout.originAt];
  }

  set origin(value: number) {
    this.doubles[this.doubleStart + this.layout.originAt] = value;
  }

  /** Event time of position 0. Times are kept for the owner: as fields of an object they would take more memory. */
  get originMs(): number {
    return this.doubles[this.doubleStart + this.layout.eventTimesAt];
  }

  set originMs(ms: number) {
    this.doubles[this.doubleStart + this.layout.eventTimesAt] = ms;
  }

  /** Newest event time; NaN before the first. */
  get newestMs(): number {
    return this.doubles[this.doubleStart + this.layout.eventTimesAt + EVENT_TIMES.at.newest];
  }

  set newestMs(ms: number) {
    this.doubles[this.doubleStart + this.layout.eventTimesAt + EVENT_TIMES.at.newest] = ms;
  }

  /** As `newestMs`, of the records that wait, too. */
  get arrivedMs(): number {
    return this.doubles[this.doubleStart + this.layout.eventTimesAt + EVENT_TIMES.at.arrived];
  }

  set arrivedMs(ms: number) {
    this.doubles[this.doubleStart + this.layout.eventTimesAt + EVENT_TIMES.at.arrived] = ms;
  }

  /** The doubles that hold the scalars, and the index of one of them. */
  get doubles(): Float64Array {
    return this.slab.doubles;
  }

  scalarIndex(scalar: number): number {
    return this.doubleStart + scalar;
  }

  /** 0 where the series has no such scalar, for want of alarms. */
  scalar(scalar: number): number {
    return scalar < this.layout.scalars ? this.doubles[this.scalarIndex(scalar)] : 0;
  }

  setScalar(scalar: number, value: number): void {
    this.doubles[this.scalarIndex(scalar)] = value;
  }

  /** Records a value (NaN: missing) and the distance that is kept of it. */
  recordScalars(value: number, distance: number): void {
    const { doubles, origin } = this;
    recordResolution(doubles, this.scalarIndex(SCALARS.resolution), value);
    recordPrecision(doubles, this.scalarIndex(SCALARS.precision), { value, origin, distance });
  }

  /** The seasonal profile; null if there is none. */
  get profile(): ProfileState | null {
    const { profile } = this.layout;
    return profile === null ? null : profileState(this, profile);
  }

  /** Calibration of the open window. */
  get calibration(): Calibration {
    return keptCalibration(this.doubles, this.scalarIndex(this.layout.scalars));
  }

  set calibration(calibration: Calibration) {
    keepCalibration(this.doubles, this.scalarIndex(this.layout.scalars), calibration);
  }

  /** Sums of all residuals, where none of them is kept. */
  get residualSums(): ResidualSums {
    return keptResidualSums(this.doubles, this.doubleStart + this.layout.residualSumsAt);
  }

  set residualSums(sums: ResidualSums) {
    keepResidualSums(this.doubles, this.doubleStart + this.layout.residualSumsAt, sums);
  }

  /** The numbers that hold the sums of forecasts, and where they begin; see open-window.ts. */
  get sums(): Float32Array | Float64Array {
    return this.layout.overlapping ? this.slab.doubles : this.slab.floats;
  }

  get sumStart(): number {
    return (this.layout.overlapping ? this.doubleStart : this.floatStart) + this.layout.sumStart;
  }

  /** Earlier positions have no value any more. */
  get contextStart(): number {
    return this.scalar(SCALARS.contextStart);
  }

  /** The distance that is kept of a value. */
  distanceOf(value: number): number {
    return Math.fround(clampToFloat32(value - this.origin));
  }

  /** The value at `position`, for positions still in the ring. */
  distanceAt(position: number): number {
    return this.slab.floats[this.floatStart + (position % this.layout.contextCapacity)];
  }

  keepDistance(position: number, distance: number): void {
    this.slab.floats[this.floatStart + (position % this.layout.contextCapacity)] = distance;
  }

  /** Copies the values of positions [from, to), all of them in the ring, to the start of `target`. */
  copyDistances(target: Float32Array, from: number, to: number): void {
    const { slab, floatStart } = this;
    const capacity = this.layout.contextCapacity;
    const first = from % capacity;
    const run = Math.min(to - from, capacity - first);
    target.set(slab.floats.subarray(floatStart + first, floatStart + first + run));
    if (run < to - from) target.set(slab.floats.subarray(floatStart, floatStart + to - from - run), run);
  }

  /** True if anything was observed in [from, to). */
  hasValue(from: number, to: number): boolean {
    for (let position = to - 1; position >= Math.max(0, from); position--) {
      if (!Number.isNaN(this.distanceAt(position))) return true;
    }
    return false;
  }

  /** Number of rows behind the newest missing one before `end`, `most` at most; all of them are in the ring. */
  presentBefore(end: number, most: number): number {
    const { floats } = this.slab;
    const { floatStart } = this;
    const { contextCapacity } = this.layout;
    let at = end % contextCapacity;
    for (let rows = 0; rows < most; rows++) {
      at = at === 0 ? contextCapacity - 1 : at - 1;
      if (Number.isNaN(floats[floatStart + at])) return rows;
    }
    return most;
  }

  forgetDistances(): void {
    const { slab, floatStart } = this;
    slab.floats.fill(Number.NaN, floatStart, floatStart + this.layout.contextCapacity);
  }

  /** The residual of the `index`-th forecasted position, for those still in the ring. */
  residualAt(index: number): number {
    return ofBfloatBits(this.slab.bfloats[residualSlot(this, index)]);
  }

  /** Rounds the residual to bfloat16. */
  keepResidual(index: number, residual: number): void {
    this.slab.bfloats[residualSlot(this, index)] = bfloatBits(residual);
  }

  /** See event-extremes.ts. */
  extremes(): Float32Array {
    const start = this.floatStart + this.layout.extremeStart;
    return this.slab.floats.subarray(start, start + EXTREME_FLOATS);
  }

  /** Residuals kept for calibration, oldest first; NaN if the value was missing. */
  residuals(count: number): Float32Array {
    return this.residualsForNow(count).slice();
  }

  /** The same in memory that the next call uses again, of any series of it. */
  residualsForNow(count: number): Float32Array {
    const { residualCapacity } = this.layout;
    const kept = Math.min(count, residualCapacity);
    const { bfloats, memory } = this.slab;
    const ordered = memory.ordered(kept);
    const start = this.bfloatStart;
    const first = kept === 0 ? 0 : (count - kept) % residualCapacity;
    const run = Math.min(kept, residualCapacity - first);
    for (let i = 0; i < run; i++) ordered[i] = ofBfloatBits(bfloats[start + first + i]);
    for (let i = run; i < kept; i++) ordered[i] = ofBfloatBits(bfloats[start + i - run]);
    return ordered.subarray(0, kept);
  }
}

function residualSlot({ layout, bfloatStart }: SeriesRings, index: number): number {
  return bfloatStart + (index % layout.residualCapacity);
}
