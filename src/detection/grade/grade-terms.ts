import type { Unusualness } from '../alarm/alarm.ts';
import { inSinglePrecision } from '../calibration/precision.ts';
import { deviationFloor, digitDeviation, isFlatSoFar, stepsSoFar } from '../calibration/resolution.ts';
import { SCALARS } from '../memory/series-memory.ts';
import type { SeriesRings } from '../memory/series-rings.ts';
import { SEED_PERIOD } from '../memory/shape-lags.ts';
import { isFlatReturn } from './flat-return.ts';
import { CHANGE_GAP, hasJumpInLevel, isBehindGap, SHAPE_GAP } from './gap-rows.ts';
import { GLITCH_ROWS, isEcho, LONE_MAX, passOutliers, RUN_MAX } from './outlier-runs.ts';
import { shownByRareStep } from './rare-steps.ts';
import { isSearched, leftByAnalogue, nearestDistance, nearestLag, seedShapes, trackShape } from './shape-search.ts';

/** The terms of the grade, by their place among the scalars. */
const RESIDUAL = 0;
const CHANGE = 1;
const ANALOGUE = 2;
const SHAPE = 3;

/** A scale forgets with so many rows. */
const FORGET_ROWS = 3_000;
/**
 * An entry counts in full up to so many times its scale. What is beyond, up to CLIP scales, counts like one row of at
 * least BEYOND_ROWS_MIN even among the first rows: an outlier must not hide what follows it.
 */
const CLIP_FULL = 4;
const CLIP = 20;
const BEYOND_ROWS_MIN = 1_000;
/** Rows from which on a scale defines an outlier. Before ROWS_FEW the outlier may be the scale itself. */
const CLIP_ROWS_MIN = 3;
const ROWS_FEW = 8;
/** Changes from which on a scale clamps the innovations of the shape search. */
const CLAMP_ROWS_MIN = 20;
/** The model's own deviation counts like so many rows at first, and fades over PRIOR_ROWS. */
const PRIOR_WEIGHT = 24;
export const PRIOR_ROWS = 300;
/** The model is about so much surer of itself than it should be (variance). */
const PRIOR_VARIANCE = 2;
/** Share of the smallest deviation of residuals: scales go lower, since they are not the only term. */
const FLOOR_SHARE = 0.2;
/**
 * Entries of a series that has hardly moved so far count in units of this share of its value at least, of this one, the
 * one before or the first one: a page of memory more is nothing, however long there was none.
 */
const FLAT_SHARE = 0.002;
/** Rounding of float32, relative. */
const ROUNDING = 1.2e-7;
const TERM_MAX = 1e6;
/** The mean of the last residuals forgets so much with each. */
const RECENT_RATE = 0.25;
const SHAPE_WEIGHT_SHARP = 3;
const SHAPE_WEIGHT_WIDE = 2;

/**
 * A forecast that leaves less than this share of how far a value moved foresaw the move. What followed similar
 * stretches is no evidence then, nor is the change.
 */
const FORESEEN_SHARE = 1 / 8;

const NOTHING_UNUSUAL: Unusualness = { sharp: 0, wide: 0 };

/** One row as the detector has it; distances from the origin of the series. */
interface GradedRow {
  readonly position: number;
  /** NaN if it is missing. */
  readonly value: number;
  readonly distance: number;
  /** The standing forecast; NaN if there is none. */
  readonly forecast: number;
}

/**
 * How unusual each row of a series is, from four terms, each in units of its own past (a root of a forgetting mean
 * square):
 *
 *   z   residual of the standing forecast
 *   d   change since the last value, unless a gap is between
 *   n   residual of the analogue forecast: what followed the stretch that was most like the newest values
 *   w   distance of the newest values from the most similar earlier stretch
 *
 *   sharp  S  = z + d + n + 3 min(w, max(z, d, n))
 *   wide   S' = z + d + n + 2 w
 *
 * A row is judged by scales of the rows before it. The sum and its weights were chosen on labelled series of several
 * sources; see README.md.
 *
 * Scores the row at `position`, whose distance is in the ring; call it before the resolution learns of it. Null without
 * value or forecast.
 */
export function scoreTerms(rings: SeriesRings, { position, value, distance, forecast }: GradedRow): Unusualness | null {
  if (Number.isNaN(value) && position === rings.contextStart) {
    // Nothing was observed so far: an absent past must not pass for a flat one.
    rings.setScalar(SCALARS.contextStart, position + 1);
    return null;
  }
  const { doubles } = rings;
  const resolutionAt = rings.scalarIndex(SCALARS.resolution);
  const isFlat = isFlatSoFar(doubles, resolutionAt);
  const least = isFlat ? leastUnit(rings, resolutionAt, value) : 0;
  const finest = FLOOR_SHARE * deviationFloor(doubles, resolutionAt);
  if (position % SEED_PERIOD === 0 || position === rings.contextStart) seed(rings, position, finest);
  const analogue = nearestLag(rings);
  const innovation = trackShape(rings, position);
  if (Number.isNaN(value)) return null;
  const change = isBehindGap(rings, position, CHANGE_GAP) ? Number.NaN : value - doubles[resolutionAt];
  const areShapesKnown = !isBehindGap(rings, position, SHAPE_GAP);
  const floor = Math.max(finest, ROUNDING * (Number.isNaN(forecast) ? Math.abs(distance) : Math.abs(forecast)));
  row.least = least;
  row.floor = floor;
  const z = scaled(rings, RESIDUAL, distance - forecast);
  // A change is exact. The others are of float32 distances, whose rounding may be all there is.
  const moved = Math.max(Math.abs(distance - forecast), Math.abs(change) || 0);
  const unforeseen =
    isAlone(rings) && moved > 0 ? Math.min(1, Math.abs(distance - forecast) / moved / FORESEEN_SHARE) : 1;
  row.floor = finest;
  const d = unforeseen * scaled(rings, CHANGE, change);
  const wasFound = analogue > 0 && isSearched(rings, position - 1);
  const isExpected = areShapesKnown && wasFound && !Number.isNaN(rings.distanceAt(position - analogue));
  const cut = rings.scalar(SCALARS.innovationMax);
  const followed = isExpected ? leftByAnalogue(analogue, cut) : Number.NaN;
  // Behind a job, a glitch, missing rows or at an analogue's spike, that shows little: the forecast counts.
  const left = Math.abs(distance - forecast);
  const isMore = left < followed && isAlone(rings);
  const isBehindJump = isMore && Math.abs(innovation) >= cut && Math.abs(change) < cut;
  const isOrdinary = z < CLIP_FULL && d < 1;
  const isSpikeEcho = isMore && isOrdinary && spikeAt(rings, position - analogue) > followed / 2;
  const isOnForecast = isSpikeEcho || (z < 1 && isEcho(rings));
  const isOffLevel =
    isMore && (isOnForecast || !Number.isFinite(innovation) || (isBehindJump && hasJumpInLevel(rings, position, cut)));
  const counted = isOffLevel ? left / followed : 1;
  row.floor = floor;
  const n = unforeseen * counted * scaled(rings, ANALOGUE, followed);
  const isShaped = areShapesKnown && nearestLag(rings) > 0 && isSearched(rings, position);
  const w = scaled(rings, SHAPE, isShaped ? Math.sqrt(nearestDistance(rings)) : Number.NaN);
  if (Number.isNaN(forecast)) return null;
  keepRecent(rings, distance - forecast);
  const largest = Math.max(z, d, n);
  const sum = z + d + n;
  if (isFlat && sum > 0 && isFlatReturn(rings, position)) return NOTHING_UNUSUAL;
  const sharp = sum + SHAPE_WEIGHT_SHARP * Math.min(w, largest);
  const rareStep = shownByRareStep(stepsSoFar(doubles, resolutionAt), rings.scalar(SCALARS.termRows + CHANGE));
  return { sharp, wide: sum + SHAPE_WEIGHT_WIDE * w, rareStep, moved };
}

/** Distance of the value at `position` to the nearer of its neighbours, if it is above or below both. */
function spikeAt(rings: SeriesRings, position: number): number {
  const value = rings.distanceAt(position);
  const [before, after] = [value - rings.distanceAt(position - 1), value - rings.distanceAt(position + 1)];
  return before > 0 === after > 0 ? Math.min(Math.abs(before), Math.abs(after)) : 0;
}

/** The smallest unit of entries of a series that has hardly moved so far. */
function leastUnit({ doubles, origin }: SeriesRings, resolutionAt: number, value: number): number {
  // A share of 0 is no unit. The last digit is one: 1 error behind none is a step, and no outlier of 1e6.
  const finest = FLOOR_SHARE * digitDeviation(doubles, resolutionAt, value);
  // NaN before the first value.
  const previous = Math.abs(doubles[resolutionAt]) || 0;
  return Math.max(finest, FLAT_SHARE * Math.max(Math.abs(origin), previous, Math.abs(value)));
}

function keepRecent(rings: SeriesRings, residual: number): void {
  const recent = rings.scalar(SCALARS.recentResidual);
  rings.setScalar(SCALARS.recentResidual, inSinglePrecision(recent + RECENT_RATE * (residual - recent)));
}

function seed(rings: SeriesRings, position: number, floor: number): void {
  const changes = rings.scalar(SCALARS.termRows + CHANGE);
  const scale = Math.max(Math.sqrt(rings.scalar(SCALARS.termSquares + CHANGE)), floor);
  rings.setScalar(
    SCALARS.innovationMax,
    changes > CLAMP_ROWS_MIN ? inSinglePrecision(CLIP * scale) : Number.POSITIVE_INFINITY,
  );
  seedShapes(rings, position);
}

/** Scales of the terms of a row. One object serves all rows: one for each would be .5 KB of garbage an observation. */
const row = {
  /** Rows of the term so far, and their mean square. */
  rows: 0,
  mean: 0,
  /** Magnitude of the entry. */
  size: 0,
  /** The scale that defines an outlier. */
  clip: 0,
  /** The least scale, and the smallest unit of a series that has hardly moved. */
  floor: 0,
  least: 0,
};

/**
 * The size that the entry of `row` counts with for its scale; NaN if it teaches nothing. Rows on their forecast behind
 * a glitch are its echo: changes, analogues and shapes still contain its value.
 */
function taughtSize(rings: SeriesRings, term: number): number {
  const { rows, size, clip } = row;
  const isOutlier = rows >= CLAMP_ROWS_MIN && size > CLIP_FULL * clip;
  const place =
    term === RESIDUAL ? passOutliers(rings, isOutlier, size > CLIP * clip) : rings.scalar(SCALARS.residualRun);
  if (!isOutlier) return size;
  if (term === RESIDUAL && rows < BEYOND_ROWS_MIN) {
    const run = place > LONE_MAX ? place - LONE_MAX : place;
    if (run > 1 && run < RUN_MAX) return Number.NaN;
  }
  if (place > 0 && place <= GLITCH_ROWS) return CLIP_FULL * clip;
  return isEcho(rings) ? Number.NaN : size;
}

/**
 * |entry| in units of the scale of its term as of the row before; 0 where there is no entry. A series that has hardly
 * moved in n rows shows n of them at most: how rare less frequent moves are is not known. `row` has the units.
 */
function scaled(rings: SeriesRings, term: number, entry: number): number {
  if (Number.isNaN(entry)) return 0;
  const { floor, least } = row;
  const rows = rings.scalar(SCALARS.termRows + term);
  const mean = rings.scalar(SCALARS.termSquares + term);
  const model = rings.scalar(SCALARS.modelDeviation);
  const prior = model > 0 ? PRIOR_WEIGHT * Math.max(0, 1 - rows / PRIOR_ROWS) : 0;
  const known = rows + prior > 0;
  const blended = known ? (rows * mean + prior * PRIOR_VARIANCE * model * model) / (rows + prior) : 0;
  const scale = known ? Math.max(Math.sqrt(blended), floor) : 0;
  const size = Math.abs(entry);
  const clip = rows + prior < CLIP_ROWS_MIN ? Number.POSITIVE_INFINITY : scale;
  rings.setScalar(SCALARS.termRows + term, rows + 1);
  row.rows = rows;
  row.mean = mean;
  row.size = size;
  row.clip = clip;
  row.size = taughtSize(rings, term);
  if (!Number.isNaN(row.size)) rings.setScalar(SCALARS.termSquares + term, inSinglePrecision(nextSquare()));
  const most = least > 0 ? Math.min(rows + 1, TERM_MAX) : TERM_MAX;
  return known ? Math.min(size / Math.max(scale, least), most) : 0;
}

/** Members of a group are judged together: what all of them show at once counts, even if each forecast foresaw it. */
function isAlone({ layout }: SeriesRings): boolean {
  return layout.settings.thresholdMethod === 'univariate';
}

/** The scale of residuals, and that of changes: roots of forgetting mean squares. */
export function scaleOfResiduals(rings: SeriesRings): number {
  return Math.sqrt(rings.scalar(SCALARS.termSquares + RESIDUAL));
}

export function scaleOfChanges(rings: SeriesRings): number {
  return Math.sqrt(rings.scalar(SCALARS.termSquares + CHANGE));
}

/** Rows that had a change since the row before. */
export function rowsOfChanges(rings: SeriesRings): number {
  return rings.scalar(SCALARS.termRows + CHANGE);
}

/** Mean of the last residuals before the newest one. */
export function leadingResidual(rings: SeriesRings, newest: number): number {
  const recent = rings.scalar(SCALARS.recentResidual);
  return Number.isNaN(newest) ? recent : (recent - RECENT_RATE * newest) / (1 - RECENT_RATE);
}

/** The mean square of the term of `row` after it. */
function nextSquare(): number {
  const { rows, mean, size, clip, floor } = row;
  const full = square(Math.min(size, CLIP_FULL * clip));
  const beyond = square(Math.min(size, CLIP * clip)) - full;
  const most = rows > 0 && rows < ROWS_FEW ? square(CLIP * Math.max(size, floor)) : Number.POSITIVE_INFINITY;
  const before = Math.min(mean, most);
  const kept = Math.min(FORGET_ROWS, rows + 1);
  return before + (full - before) / kept + beyond / Math.max(kept, BEYOND_ROWS_MIN);
}

function square(number: number): number {
  return number * number;
}
