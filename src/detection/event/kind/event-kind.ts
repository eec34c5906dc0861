import type { EventKind } from '../../../records/anomaly-event.ts';
import { type Departure, DRIFT_ROWS } from './displaced-values.ts';

/** Evidence for the kind of an event. Values and changes are in units of the series; NaN if a value is missing. */
interface KindEvidence {
  /** Values that are kept, oldest first; the first alarm is at index `start`. */
  readonly values: Float32Array;
  readonly start: number;
  /** Begin of the event. Values that were stuck before it are of another one. */
  readonly begun: number;
  /** Residuals from the first alarm on, of at most RESIDUALS_KEPT rows, in deviations of earlier residuals. */
  readonly residuals: ArrayLike<number>;
  /** Distance of the values from their forecasts just before, in the same unit. */
  readonly leading: number;
  /** The most unusual alarm is below its forecast. */
  readonly isBelow: boolean;
  /** Rows from the first to the last alarm. */
  readonly span: number;
  /** Deviation of earlier changes. */
  readonly changeScale: number;
  /** The departure of values from what was usual; null if that is not known. */
  readonly departure: Departure | null;
  /** The seasonal profile raised an alarm: values were unusual for half an hour. */
  readonly isBySeason: boolean;
  /** Origin of the kept values. */
  readonly origin: number;
  /** Values have not come back since, regardless of the first rows. */
  readonly staysAway: boolean;
  /** The most unusual value is beyond all earlier ones: no return from a stuck value does. */
  readonly isExtreme?: boolean;
}

/** Residuals that an open event keeps. */
export const RESIDUALS_KEPT = 48;

/** A change so many rows before the first alarm may be what the alarm is about. */
const ONSET_ROWS = 24;
/** A value is stuck when it comes so often in a row, and so much more often than before. */
export const STUCK_ROWS = 6;
export const STUCK_FACTOR = 2;
/** A burst has so many changes, and this share, that are so many times as large as before, up and down. */
const BURST_CHANGES = 4;
const BURST_SHARE = 0.3;
const BURST_CHANGE = 2.5;
const BURST_TURNS = 0.5;
/** Noise that grew with its level is no burst: changes go back by this share of what values are displaced by. */
const BURST_RETURN = 0.35;
const BURST_ROWS = 12;
/** A season is missing where a stretch of rows varies by less than this share of what such stretches usually do. */
const SEASON_ROWS = 16;
const SEASON_SHARE = 0.5;
const BEFORE_ROWS = 48;
const USUAL_STRETCHES = 3;
/** The crest of a long season varies little, too: what a stretch usually does at least, except a few of them. */
const USUAL_QUANTILE = 0.05;
/**
 * Values are displaced where most of the first rows are: as far as this share of the largest residual, on its side. A
 * forecast follows a new level as soon as it has seen it; so it counts as well how far a value lies from those before
 * the first alarm, where values rarely move as far within as many rows.
 */
const DISPLACED_ROWS = 8;
const BASE_ROWS = 4;
const MOVE_QUANTILE = 0.95;
const DISPLACED_SHARE = 0.35;
const DISPLACED_MOST = 0.6;
const DISPLACED_ROWS_MIN = 4;
/** If the rows of a rise are not known, a drift was on its way by this share of its size before. */
const DRIFT_LEADING = 0.35;

/** Kinds by rank: the later, the more specific. */
const BY_RANK: readonly (readonly EventKind[])[] = [
  ['spike', 'dip'],
  ['level_shift', 'drift'],
  ['missing_season', 'stuck', 'burst'],
];
const DISPLACED_RANK = 1;
/** Kinds that no short event has. */
const LONG: readonly EventKind[] = ['level_shift', 'drift', 'burst'];

/**
 * A kind is refined by what comes, and not taken back: at the end an incident looks less like itself. A level shift
 * becomes a drift, or the other way round, while it is known how values left what was usual.
 */
export function refined(kind: EventKind, next: EventKind, departure: Departure | null): EventKind {
  const rank = (of: EventKind) => BY_RANK.findIndex((kinds) => kinds.includes(of));
  const isTurn = rank(kind) === DISPLACED_RANK && rank(next) === DISPLACED_RANK;
  return rank(next) >= rank(kind) && (departure !== null || !isTurn) ? next : kind;
}

/** True if an event of so few rows can be no level, no drift and no burst, once values are back. */
export function isShort(rows: number): boolean {
  return rows < DISPLACED_ROWS_MIN;
}

/** The kind of an event of so many rows behind which values are back. */
export function recoveredKind(kind: EventKind, rows: number, isBelow: boolean): EventKind {
  return LONG.includes(kind) && isShort(rows) ? pointKind(isBelow) : kind;
}

/** The kind of an event of which nothing else is known. */
export function pointKind(isBelow: boolean): EventKind {
  return isBelow ? 'dip' : 'spike';
}

/** The kind of an event, as far as its rows show by now. O(rows). */
export function kindOf(evidence: KindEvidence): EventKind {
  if (isStuck(evidence)) return 'stuck';
  if (isBurst(evidence)) return 'burst';
  if (lostItsSeason(evidence)) return 'missing_season';
  const { extreme, lasts } = displacement(evidence);
  const { departure, isBySeason, leading, staysAway } = evidence;
  const isDisplaced = isBySeason && departure !== null && departure.displacedRows >= DISPLACED_ROWS_MIN;
  if (!lasts && !isDisplaced && !staysAway) return pointKind(evidence.isBelow);
  const isOnItsWay = leading * Math.sign(extreme) > DRIFT_LEADING * Math.abs(extreme);
  return (departure === null ? isOnItsWay : departure.riseRows >= DRIFT_ROWS) ? 'drift' : 'level_shift';
}

/** The largest of the first residuals, and whether most of the first rows are displaced. */
function displacement({ values, start, residuals }: KindEvidence): {
  readonly extreme: number;
  readonly lasts: boolean;
} {
  const rows = Math.min(residuals.length, DISPLACED_ROWS);
  let extreme = 0;
  for (let i = 0; i < rows; i++) if (Math.abs(residuals[i]) > Math.abs(extreme)) extreme = residuals[i];
  const side = Math.sign(extreme);
  const base = baseOf(values, start);
  const move = usualMove(values.subarray(0, start));
  let displaced = 0;
  for (let i = 0; i < rows; i++) {
    const isDeviating = residuals[i] * side >= DISPLACED_SHARE * Math.abs(extreme);
    if (isDeviating || (values[start + i] - base) * side > move) displaced++;
  }
  return { extreme, lasts: displaced >= Math.max(DISPLACED_ROWS_MIN, DISPLACED_MOST * rows) };
}

function baseOf(values: Float32Array, start: number): number {
  return median(values.subarray(Math.max(0, start - BASE_ROWS), start));
}

/** The largest usual move of values within the first rows of an event, except a few. */
function usualMove(values: Float32Array): number {
  const moves: number[] = [];
  for (let i = DISPLACED_ROWS; i < values.length; i++) {
    const move = Math.abs(values[i] - values[i - DISPLACED_ROWS]);
    if (!Number.isNaN(move)) moves.push(move);
  }
  if (moves.length === 0) return Number.POSITIVE_INFINITY;
  moves.sort((a, b) => a - b);
  return moves[Math.floor(MOVE_QUANTILE * moves.length)];
}

/** NaN if no value is there. */
function median(values: Float32Array): number {
  const present = values.filter((value) => !Number.isNaN(value)).sort();
  return present.length === 0 ? Number.NaN : present[present.length >> 1];
}

/** An extreme value that ends a run, or interrupts it, is no part of it. */
function isStuck(evidence: KindEvidence): boolean {
  const { values, start, begun, isExtreme = false } = evidence;
  const from = stuckFrom(evidence);
  return from !== null && !(isExtreme && (from < start || values[from] === values[begun - 1]));
}

/** Begin of the longest run of one value that is stuck; null for none. */
export function stuckFrom({ values, start, begun }: Pick<KindEvidence, 'values' | 'start' | 'begun'>): number | null {
  let [recent, earlier, run, from] = [0, 0, 0, 0];
  for (let i = 0; i <= values.length; i++) {
    if (i < values.length && i > 0 && values[i] === values[i - 1]) {
      run++;
      continue;
    }
    // A run that is all there was before is how the series is.
    if (i <= start - ONSET_ROWS || run >= i) earlier = Math.max(earlier, run);
    else if (run > recent && i > begun) [recent, from] = [run, i - run];
    run = Number.isNaN(values[i]) ? 0 : 1;
  }
  return recent >= STUCK_ROWS && recent > STUCK_FACTOR * earlier ? from : null;
}

/** True if the newest value has come so often in a row that it is stuck. */
export function isStillStuck(values: Float32Array): boolean {
  const last = values.length - 1;
  let run = 1;
  while (run < STUCK_ROWS && values[last - run] === values[last]) run++;
  return run >= STUCK_ROWS;
}

function isBurst({ values, start, span, changeScale, departure }: KindEvidence): boolean {
  const end = Math.min(start + Math.max(span, BURST_ROWS), values.length);
  const first = values.subarray(start, Math.min(end, start + DISPLACED_ROWS));
  const moved = Math.max(departure?.size ?? 0, Math.abs(median(first) - baseOf(values, start)) || 0);
  const least = Math.max(BURST_CHANGE * changeScale, BURST_RETURN * moved);
  let [large, turns, last] = [0, 0, 0];
  for (let i = Math.max(1, start); i < end; i++) {
    const change = values[i] - values[i - 1];
    if (!(Math.abs(change) > least)) continue;
    large++;
    if (change * last < 0) turns++;
    last = change;
  }
  return large >= Math.max(BURST_CHANGES, BURST_SHARE * (end - start)) && turns >= BURST_TURNS * (large - 1);
}

/** Since the first alarm, or just before it: then the alarm is of its return. */
function lostItsSeason({ values, start, origin }: KindEvidence): boolean {
  return (
    staysWithoutSeason(values, start, origin) ||
    shareOfUsual({ values, from: start - BEFORE_ROWS, to: start, origin }) < SEASON_SHARE
  );
}

/** True if values have varied by too little since `start`. */
export function staysWithoutSeason(values: Float32Array, start: number, origin: number): boolean {
  return shareOfUsual({ values, from: start, to: values.length, origin }) < SEASON_SHARE;
}

interface Stretch {
  readonly values: Float32Array;
  readonly from: number;
  readonly to: number;
  readonly origin: number;
}

/**
 * How much the values of a stretch vary: a share of what stretches as long, before it, do at least. Of values that fell
 * by a factor the season falls with them: where all are positive it counts as a share of their mean, if that is more.
 */
function shareOfUsual({ values, from, to, origin }: Stretch): number {
  const rows = to - from;
  if (rows < SEASON_ROWS || from < USUAL_STRETCHES * rows) return Number.POSITIVE_INFINITY;
  const variations: Variation[] = [];
  for (let end = from; end >= rows; end -= Math.ceil(rows / 4)) {
    const variation = variationOf(values.subarray(end - rows, end), origin);
    if (variation !== null) variations.push(variation);
  }
  if (variations.length < USUAL_STRETCHES) return Number.POSITIVE_INFINITY;
  const present = variationOf(values.subarray(from, to), origin);
  if (present === null) return Number.NaN;
  const shareBy = (of: (variation: Variation) => number) => of(present) / usualLeast(variations.map(of));
  const share = shareBy(({ deviation }) => deviation);
  const isPositive = present.lowest > 0 && variations.every(({ lowest }) => lowest > 0);
  return isPositive
    ? Math.max(
        share,
        shareBy(({ deviation, mean }) => deviation / mean),
      )
    : share;
}

function usualLeast(usual: readonly number[]): number {
  return usual.toSorted((a, b) => a - b)[Math.floor(USUAL_QUANTILE * usual.length)];
}

interface Variation {
  readonly deviation: number;
  readonly mean: number;
  readonly lowest: number;
}

/** null if most values are missing. */
function variationOf(values: Float32Array, origin: number): Variation | null {
  let [count, sum, squares, lowest] = [0, 0, 0, Number.POSITIVE_INFINITY];
  const first = values.find((value) => !Number.isNaN(value)) ?? 0;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    count++;
    sum += value - first;
    squares += (value - first) ** 2;
    if (value < lowest) lowest = value;
  }
  if (2 * count < values.length) return null;
  const deviation = Math.sqrt(Math.max(0, squares / count - (sum / count) ** 2));
  return { deviation, mean: origin + first + sum / count, lowest: origin + lowest };
}
