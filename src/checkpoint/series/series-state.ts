import { bfloatBits } from '../../detection/calibration/bfloat16.ts';
import { forecastedPositions, isCutoff } from '../../detection/calibration/cutoff-grid.ts';
import { RESIDUAL_SUMS } from '../../detection/calibration/kept-calibration.ts';
import { EXTREME_FLOATS, SINCE } from '../../detection/memory/extreme-blocks.ts';
import { SCALARS_MAX, type SeriesLayout } from '../../detection/memory/series-memory.ts';
import type { SeriesDetector } from '../../detection/series/series-detector.ts';
import { type ChangelogSeries, readPhasedPositions, writePhasedPositions } from '../delta-log.ts';
import { STATE_FORMAT, type StateReader, StateWriter } from '../state-bytes.ts';
import { windowKey } from '../window-records.ts';
import { profileBytesMax, readProfile, readProfileChange, writeProfile, writeProfileChange } from './profile-state.ts';
import { readScalarChange, readValues, valueOfFormat, writeScalarChange, writeValues } from './scalar-change.ts';

/** Earlier formats have residuals as float32. They are rounded as they are read. */
const BFLOAT_FORMAT = 6;
/** Changes of earlier formats have what is fixed while a window is open, or follows from the rest, too. */
const FIXED_FORMAT = 6;

/**
 * The state of a series has two parts. The open window changes with every observation: `writeDetectorState` writes it
 * whole, and `writeDetectorChange` what was added since. A closed window never changes: `closedWindowRecord` has it
 * once. All together restore the rings of values and residuals exactly.
 */
export function writeDetectorState(writer: StateWriter, detector: SeriesDetector): void {
  const { layout, rings, positions, windowStart } = detector;
  writePhasedPositions(writer, positions, detector.grid);
  writer.number(detector.residualCount);
  writer.number(detector.closedWindows);
  writer.number(rings.extremes()[SINCE]);
  for (let position = Math.max(0, windowStart); position < positions; position++) {
    writer.f32(rings.distanceAt(position));
  }
  writeForecasts(writer, detector, occupied(detector));
  writer.number(detector.origin);
  writeHead(writer, detector, false);
  for (let scalar = 0; scalar < layout.scalars; scalar++) writer.number(rings.scalar(scalar));
  for (const at of residualSumsOf(detector)) writer.f64(rings.doubles[at]);
  writeProfile(writer, detector.rings.profile);
}

/** Most bytes that `writeDetectorState` takes, or nearly. */
export function openStateBytesMax(layout: SeriesLayout): number {
  return 80 + 4 * layout.settings.detectionSize + 8 * (sumsOf(layout) + SCALARS_MAX) + profileBytesMax(layout);
}

export function readDetectorState(reader: StateReader, detector: SeriesDetector): void {
  const { positions, phase } = readPhasedPositions(reader);
  detector.phase = phase;
  detector.resumeAt(positions, Number.NaN, false);
  detector.residualCount = reader.number();
  detector.closedWindows = reader.number();
  // With the newest closed window, too; but the windows before a member joined are not written.
  detector.rings.extremes()[SINCE] = reader.number();
  readDistances(reader, detector, Math.max(0, detector.windowStart));
  readForecasts(reader, detector);
  detector.origin = reader.number();
  readScalars(reader, detector, readHead(reader, detector).scalars);
  for (const at of residualSumsOf(detector)) detector.rings.doubles[at] = reader.f64();
  readProfile(reader, detector.rings.profile);
}

/** The places of the sums of residuals among the doubles; none where the residuals are kept. */
function residualSumsOf({ layout, rings }: SeriesDetector): number[] {
  const start = rings.doubleStart + layout.residualSumsAt;
  return layout.residualCapacity > 0 ? [] : Array.from({ length: RESIDUAL_SUMS.count }, (_, at) => start + at);
}

/** True if `writeDetectorChange` can hold the changes since the detector was at `written`: no window closed. */
export function isChangeOf(written: number, { positions, windowStart }: SeriesDetector): boolean {
  return written > 0 && written >= windowStart && written <= positions;
}

/**
 * Writes forecasts and values of the open window since the detector was at `written`, and what changes with every
 * value. The floor of the deviation is fixed while a window is open, and so is the origin, from the first value on.
 */
export function writeDetectorChange(writer: StateWriter, detector: SeriesDetector, written: number): void {
  writeForecasts(writer, detector, forecastSince(written, detector));
  const { rings, layout, origin, positions } = detector;
  const isBegun = !rings.hasValue(Math.max(rings.contextStart, positions - layout.contextCapacity), written);
  writeHead(writer, detector, isBegun);
  if (isBegun) writer.number(origin);
  writeValues(writer, detector, written);
  writeScalarChange(writer, detector, written);
  writeProfileChange(writer, detector.rings.profile);
}

/** Takes a detector on to `positions`, by what `writeDetectorChange` wrote. */
export function readDetectorChange(reader: StateReader, detector: SeriesDetector, positions: number): void {
  const written = detector.positions;
  detector.positions = positions;
  if (reader.format < FIXED_FORMAT) readEarlierChange(reader, detector, written);
  else {
    readForecasts(reader, detector);
    const { scalars, isBegun } = readHead(reader, detector);
    if (isBegun) detector.origin = reader.number();
    readValues(reader, detector, written);
    readScalarChange(reader, detector, { written, scalars });
  }
  readProfileChange(reader, detector.rings.profile);
}

/** Reads changes of format 5, which have all scalars. */
function readEarlierChange(reader: StateReader, detector: SeriesDetector, written: number): void {
  readDistances(reader, detector, written);
  readForecasts(reader, detector);
  detector.origin = reader.number();
  readScalars(reader, detector, readHead(reader, detector).scalars);
}

function readDistances(reader: StateReader, { positions, rings }: SeriesDetector, from: number): void {
  for (let position = from; position < positions; position++) rings.keepDistance(position, reader.f32());
}

interface SumRange {
  readonly from: number;
  readonly to: number;
}

function occupied({ rings, layout }: SeriesDetector): SumRange {
  const { sums, sumStart } = rings;
  let [from, to] = [0, sumsOf(layout)];
  while (to > from && Object.is(sums[sumStart + to - 1], 0)) to--;
  while (from < to && Object.is(sums[sumStart + from], 0)) from++;
  return { from, to };
}

/** The sums that a forecast since `written` may have changed. That of a cutoff at `written` may not have been there. */
function forecastSince(written: number, { positions, windowStart, settings, layout, grid }: SeriesDetector): SumRange {
  let [from, to] = [0, 0];
  for (let cutoff = written; cutoff <= positions; cutoff++) {
    if (!isCutoff(cutoff, grid)) continue;
    if (layout.laterLength > 0) return { from: 0, to: sumsOf(layout) };
    if (to === 0) from = cutoff - windowStart;
    to = Math.min(cutoff - windowStart + settings.h, sumsOf(layout));
  }
  return { from, to };
}

/** Most sums are of one forecast, and float32. */
function writeForecasts(writer: StateWriter, { rings }: SeriesDetector, { from, to }: SumRange): void {
  writer.number(to - from);
  if (to === from) return;
  writer.number(from);
  const { sums, sumStart } = rings;
  let isFloat32 = true;
  for (let at = from; at < to; at++) {
    const sum = sums[sumStart + at];
    if (!Object.is(Math.fround(sum), sum)) isFloat32 = false;
  }
  writer.u8(isFloat32 ? 1 : 0);
  for (let at = from; at < to; at++) {
    if (isFloat32) writer.f32(sums[sumStart + at]);
    else writer.f64(sums[sumStart + at]);
  }
}

function readForecasts(reader: StateReader, { rings }: SeriesDetector): void {
  const length = reader.number();
  if (length === 0) return;
  const start = rings.sumStart + reader.number();
  const isFloat32 = reader.u8() === 1;
  for (let at = start; at < start + length; at++) rings.sums[at] = isFloat32 ? reader.f32() : reader.f64();
}

/** Number of scalars follow, whether a forecast is due, and whether the origin follows. */
function writeHead(writer: StateWriter, { forecastDue, layout }: SeriesDetector, isBegun: boolean): void {
  writer.u8(layout.scalars * 4 + (isBegun ? 2 : 0) + (forecastDue ? 1 : 0));
}

/** Earlier formats do not know of the origin. */
function readHead(reader: StateReader, detector: SeriesDetector): { scalars: number; isBegun: boolean } {
  const head = reader.u8();
  detector.forecastDue = head % 2 === 1;
  const flags = reader.format < FIXED_FORMAT ? 2 : 4;
  return { scalars: Math.floor(head / flags), isBegun: flags === 4 && (head & 2) !== 0 };
}

function readScalars(reader: StateReader, detector: SeriesDetector, scalars: number): void {
  for (let scalar = 0; scalar < scalars; scalar++) keepScalar(reader, detector, scalar, reader.number());
}

/** States may hold scalars of alarms, all 0, where the series has none. */
function keepScalar({ format }: StateReader, { rings, layout }: SeriesDetector, scalar: number, value: number): void {
  if (scalar < layout.scalars) rings.setScalar(scalar, valueOfFormat(format, scalar, value));
}

function sumsOf({ forecastLength, laterLength }: SeriesLayout): number {
  return forecastLength + laterLength;
}

/**
 * Writes the newest closed window: its values, the extremes by its end, then the residuals of its forecasted positions.
 * Call it when the window closes.
 */
function writeClosedWindow(writer: StateWriter, { startOffset, detector }: ChangelogSeries): void {
  const { settings, layout, windowStart, grid } = detector;
  const start = windowStart - settings.detectionSize;
  writer.u8(STATE_FORMAT);
  writer.f64(startOffset);
  writer.f64(start);
  const last = detector.residualCount;
  const first = last - (forecastedPositions(windowStart, grid) - forecastedPositions(start, grid));
  writer.f64(first);
  for (let position = start; position < windowStart; position++) {
    writer.f32(position < 0 ? Number.NaN : detector.rings.distanceAt(position));
  }
  for (const extreme of detector.rings.extremes()) writer.f32(extreme);
  if (layout.residualCapacity === 0) return;
  for (let i = first; i < last; i++) writer.u16(bfloatBits(detector.rings.residualAt(i)));
}

/**
 * Restores a closed window into the rings. A window with another start offset belongs to the series before it started
 * over. Such a window changes nothing, and neither does one that is older than the rings reach.
 */
export function readClosedWindow(reader: StateReader, { startOffset, detector }: ChangelogSeries): void {
  const { settings, layout, windowStart, grid } = detector;
  const writtenStartOffset = reader.f64();
  const start = reader.f64();
  if (writtenStartOffset !== startOffset || start >= windowStart) return;
  const first = reader.format < 3 ? forecastedPositions(start, grid) : reader.f64();
  const end = start + settings.detectionSize;
  const { slab, floatStart, bfloatStart, contextStart } = detector.rings;
  const { contextCapacity, residualCapacity } = layout;
  const keptValues = Math.max(detector.positions - contextCapacity, contextStart);
  // Positions are no small integers for V8: a remainder of each would take longer than the rest.
  let at = start < 0 ? 0 : start % contextCapacity;
  for (let position = start; position < end; position++) {
    const distance = reader.f32();
    if (position < 0) continue;
    if (position >= keptValues) slab.floats[floatStart + at] = distance;
    if (++at === contextCapacity) at = 0;
  }
  const last = first + forecastedPositions(end, grid) - forecastedPositions(start, grid);
  // Windows that nothing was observed in are not written: this may be the newest one all the same.
  if (reader.format >= 3) readExtremes(reader, detector, last === detector.residualCount);
  if (residualCapacity === 0) return;
  const keptResiduals = detector.residualCount - residualCapacity;
  at = first % residualCapacity;
  for (let i = first; i < last; i++) {
    const bits = reader.format < BFLOAT_FORMAT ? bfloatBits(reader.f32()) : reader.u16();
    if (i >= keptResiduals) slab.bfloats[bfloatStart + at] = bits;
    if (++at === residualCapacity) at = 0;
  }
}

/** Those of the newest window are those of the series. */
function readExtremes(reader: StateReader, { rings }: SeriesDetector, isNewest: boolean): void {
  if (!isNewest) {
    reader.position += 4 * EXTREME_FLOATS;
    return;
  }
  const extremes = rings.extremes();
  for (let i = 0; i < extremes.length; i++) extremes[i] = reader.f32();
}

/** A closed window of a series whose start offset has changed; null if it belongs to an earlier life of it. */
export function relocatedWindow(
  value: Buffer,
  { startOffset, moved }: { readonly startOffset: number; readonly moved: number },
): Buffer | null {
  if (value.readDoubleLE(1) !== startOffset) return null;
  const relocated = Buffer.from(value);
  relocated.writeDoubleLE(moved, 1);
  return relocated;
}

/** All closed windows of a thread are written with it, one after the other. */
const WRITER = new StateWriter();

/** The newest closed window, when it closes. A series has few keys and writes them in turn. */
export function closedWindowRecord(series: ChangelogSeries): { readonly key: Buffer; readonly value: Buffer } {
  // What a write that failed has left.
  WRITER.length = 0;
  writeClosedWindow(WRITER, series);
  const { layout, closedWindows } = series.detector;
  return { key: windowKey((closedWindows - 1) % (layout.windowsKept + 1), series.key), value: WRITER.drain() };
}

/** Every key that closed windows of a series may have. */
export function closedWindowKeys({ key, detector }: ChangelogSeries): Buffer[] {
  return Array.from({ length: detector.layout.windowsKept + 1 }, (_, slot) => windowKey(slot, key));
}
