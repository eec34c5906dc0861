import { ALARM_STATE } from '../../detection/alarm/alarm.ts';
import { PRECISION_STATE } from '../../detection/calibration/precision.ts';
import { RESOLUTION_STATE, STEPS_COUNTED } from '../../detection/calibration/resolution.ts';
import { SCALARS, SCALARS_MAX } from '../../detection/memory/series-memory.ts';
import { SEED_PERIOD } from '../../detection/memory/shape-lags.ts';
import type { SeriesDetector } from '../../detection/series/series-detector.ts';
import type { StateReader, StateWriter } from '../state-bytes.ts';

const TERMS = SCALARS.termRows - SCALARS.termSquares;
const PREVIOUS = SCALARS.alarm + ALARM_STATE.at.previous;
const BEFORE_PREVIOUS = SCALARS.alarm + ALARM_STATE.at.beforePrevious;

function isOf(scalar: number, first: number, count: number): boolean {
  return scalar >= first && scalar < first + count;
}

/** Scalars that a change has: the floor is fixed in a window, counts of terms and the clamp follow in their own way. */
const OF_ROWS = Array.from({ length: SCALARS_MAX }, (_, scalar) => scalar).filter(
  (scalar) => scalar !== SCALARS.floor && scalar !== SCALARS.innovationMax && !isOf(scalar, SCALARS.termRows, TERMS),
);
/** Those that a change of one row has: the others follow from its value, and from what was before. */
const OF_ONE_ROW = OF_ROWS.filter(
  (scalar) =>
    !isOf(scalar, SCALARS.resolution, RESOLUTION_STATE.count) &&
    !isOf(scalar, SCALARS.precision, PRECISION_STATE.count) &&
    scalar !== BEFORE_PREVIOUS,
);
const isPlain = (scalar: number) => scalar < SCALARS.termSquares;
/** Graded: of series with alarms. */
const CHANGED = {
  graded: { ofRows: OF_ROWS, ofOneRow: OF_ONE_ROW },
  plain: { ofRows: OF_ROWS.filter(isPlain), ofOneRow: OF_ONE_ROW.filter(isPlain) },
};

/** Writes the values of positions from `written` on: of one row its value as it came, of more their distances. */
export function writeValues(writer: StateWriter, { positions, rings }: SeriesDetector, written: number): void {
  if (positions === written + 1) {
    writer.number(Number.isNaN(rings.distanceAt(written)) ? Number.NaN : rings.scalar(SCALARS.resolution));
    return;
  }
  for (let position = written; position < positions; position++) writer.f32(rings.distanceAt(position));
}

/** Takes up what `writeValues` wrote. The origin of the series must be known. */
export function readValues(reader: StateReader, { positions, rings }: SeriesDetector, written: number): void {
  if (positions === written + 1) {
    const value = reader.number();
    const distance = rings.distanceOf(value);
    rings.keepDistance(written, distance);
    rings.recordScalars(value, distance);
    return;
  }
  for (let position = written; position < positions; position++) rings.keepDistance(position, reader.f32());
}

/** Writes the scalars that changed with the rows from `written` on. */
export function writeScalarChange(writer: StateWriter, detector: SeriesDetector, written: number): void {
  const { positions, rings, layout } = detector;
  const changed = CHANGED[layout.isGraded ? 'graded' : 'plain'];
  writer.numbers(rings.doubles, rings.doubleStart, positions === written + 1 ? changed.ofOneRow : changed.ofRows);
  if (!layout.isGraded) return;
  for (let term = 0; term < TERMS; term++) writer.number(positions - rings.scalar(SCALARS.termRows + term));
  if (wasSeeded(detector, written)) writer.number(rings.scalar(SCALARS.innovationMax));
}

/** Takes up what `writeScalarChange` wrote, behind the values. `scalars` were there; a detector may have fewer. */
export function readScalarChange(
  reader: StateReader,
  detector: SeriesDetector,
  { written, scalars }: { readonly written: number; readonly scalars: number },
): void {
  const { positions, rings, layout } = detector;
  const keep = (scalar: number, value: number) => {
    if (scalar < layout.scalars) rings.setScalar(scalar, value);
  };
  const isOneRow = positions === written + 1;
  if (isOneRow) keep(BEFORE_PREVIOUS, rings.scalar(PREVIOUS));
  for (const scalar of isOneRow ? OF_ONE_ROW : OF_ROWS) if (scalar < scalars) keep(scalar, reader.number());
  if (scalars <= SCALARS.termSquares) return;
  for (let term = 0; term < TERMS; term++) keep(SCALARS.termRows + term, positions - reader.number());
  if (wasSeeded(detector, written)) keep(SCALARS.innovationMax, reader.number());
}

/** True if one of the rows from `written` on has seeded the shape search; see grade-terms.ts. */
function wasSeeded({ positions, rings: { contextStart } }: SeriesDetector, written: number): boolean {
  const seeded = Math.ceil(written / SEED_PERIOD) * SEED_PERIOD;
  return seeded < positions || (contextStart >= written && contextStart < positions);
}

const STEPS = SCALARS.resolution + RESOLUTION_STATE.at.steps;
/** Formats before 6 count the steps of a series no further. */
const STEPS_BEFORE_FORMAT_6 = 8;

/** The value of a scalar of a state of some format. A series that made as many steps as it could count made enough. */
export function valueOfFormat(format: number, scalar: number, value: number): number {
  return format < 6 && scalar === STEPS && value >= STEPS_BEFORE_FORMAT_6 ? STEPS_COUNTED : value;
}
