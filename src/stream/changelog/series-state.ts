import type { ResidualSums } from '../../detector/calibration.ts';
import type { SeriesDetector } from '../../detector/series-detector.ts';
import { forecastedPositions, type SeriesLayout } from '../../detector/series-memory.ts';
import type { DetectionSettings } from '../../detector/settings.ts';
import type { ChangelogSeries } from './changelog-series.ts';
import { STATE_FORMAT, type StateReader, type StateWriter } from './state-bytes.ts';

/**
 * The state of a series has two parts. The open window changes with every observation: `writeDetectorState` writes it
 * with each commit that touched the series. A closed window never changes: `writeClosedWindow` writes it once. Both
 * together restore the rings of values and residuals exactly.
 */
export function writeDetectorState(writer: StateWriter, detector: SeriesDetector): void {
  const { layout, block, positions, windowStart } = detector;
  writer.f64(positions);
  writer.f64(detector.origin);
  writer.u8(detector.forecastDue ? 1 : 0);
  for (let position = windowStart; position < positions; position++) writer.f32(detector.distanceAt(position));
  for (let i = 0; i < layout.doubles; i++) writer.f64(block.slab.doubles[block.doubleStart + i]);
  if (layout.residualCapacity === 0) writeSums(writer, detector.sums);
}

/** Most bytes that `writeDetectorState` takes. */
export function openStateBytesMax({ doubles }: SeriesLayout, { detectionSize }: DetectionSettings): number {
  return 64 + 4 * detectionSize + 8 * doubles;
}

export function readDetectorState(reader: StateReader, detector: SeriesDetector): void {
  const { layout, block } = detector;
  const positions = reader.f64();
  const origin = reader.f64();
  detector.resumeAt(positions, origin, reader.u8() === 1);
  for (let position = detector.windowStart; position < positions; position++) {
    detector.keepDistance(position, reader.f32());
  }
  for (let i = 0; i < layout.doubles; i++) block.slab.doubles[block.doubleStart + i] = reader.f64();
  if (layout.residualCapacity === 0) detector.sums = readSums(reader);
}

function writeSums(writer: StateWriter, { samples, mean, squares }: ResidualSums): void {
  writer.f64(samples);
  writer.f64(mean);
  writer.f64(squares);
}

function readSums(reader: StateReader): ResidualSums {
  return { samples: reader.f64(), mean: reader.f64(), squares: reader.f64() };
}

/**
 * Writes the newest closed window: its values, then the residuals of its forecasted positions. Call it when the window
 * closes.
 */
export function writeClosedWindow(writer: StateWriter, { startOffset, detector }: ChangelogSeries): void {
  const { settings, layout, windowStart } = detector;
  const start = windowStart - settings.detectionSize;
  writer.u8(STATE_FORMAT);
  writer.f64(startOffset);
  writer.f64(start);
  for (let position = start; position < windowStart; position++) writer.f32(detector.distanceAt(position));
  if (layout.residualCapacity === 0) return;
  for (let i = forecastedPositions(start, settings); i < detector.residualCount; i++)
    writer.f32(detector.residualAt(i));
}

/**
 * Restores a closed window into the rings. A window with another start offset belongs to the series before it started
 * over. Such a window changes nothing, and neither does one that is older than the rings reach.
 */
export function readClosedWindow(reader: StateReader, { startOffset, detector }: ChangelogSeries): void {
  const { settings, layout, windowStart } = detector;
  const writtenStartOffset = reader.f64();
  const start = reader.f64();
  if (writtenStartOffset !== startOffset || start >= windowStart) return;
  const end = start + settings.detectionSize;
  const keptValues = detector.positions - layout.contextCapacity;
  for (let position = start; position < end; position++) {
    const distance = reader.f32();
    if (position >= keptValues) detector.keepDistance(position, distance);
  }
  if (layout.residualCapacity === 0) return;
  const keptResiduals = detector.residualCount - layout.residualCapacity;
  const last = forecastedPositions(end, settings);
  for (let i = forecastedPositions(start, settings); i < last; i++) {
    const residual = reader.f32();
    if (i >= keptResiduals) detector.keepResidual(i, residual);
  }
}

/** Key of the newest closed window. A series has few keys and writes them in turn. */
export function closedWindowKey({ key, detector }: ChangelogSeries): Buffer {
  const { layout, settings, windowStart } = detector;
  const index = windowStart / settings.detectionSize - 1;
  return Buffer.from(`w/${index % (layout.windowsKept + 1)}/${key}`);
}

/** Every key that closed windows of a series may have. */
export function closedWindowKeys({ key, detector }: ChangelogSeries): Buffer[] {
  return Array.from({ length: detector.layout.windowsKept + 1 }, (_, slot) => Buffer.from(`w/${slot}/${key}`));
}
