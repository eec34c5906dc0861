import type { RingValues } from './event-extremes.ts';
import { presentMedian } from './present-median.ts';

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;
/** Rows before an event in which its rise may have begun. The first of them show usual values. */
const LEAD_ROWS = 144;
const USUAL_ROWS = 96;
/** Values are medians of so many rows. */
const SMOOTHED_ROWS = 13;
/** A rise goes from a quarter to three quarters of what values are displaced by. */
const RISE_FROM = 0.25;
const RISE_TO = 0.75;
/** A continuing rise is seen in thirds of an event of so many rows or more. */
const THIRD_ROWS = 8;
/** Rows that growth by the whole size counts, and that noise alone adds to the rise of a level. */
const GROWTH_ROWS = 24;
const STAYS_ROWS = 4;
/** A drift rises in so many rows. */
export const DRIFT_ROWS = 12;
/** Growth of values that go back: it does not show how they rose. */
const RETURN_GROWTH = -0.25;
const AWAY_SHARE = 0.5;
/** Values displaced by less than this share of the peak of their event are usual: the forecasts were not. */
export const DISPLACED_LEAST = 0.35;
const OWN_ROWS_MIN = 4;
/** Quantile of the displacement of values, so that a few of them do not decide. */
const SIZE_QUANTILE = 0.75;

/** The departure of values from what was usual. */
export interface Departure {
  /** Rows from a quarter to three quarters of the way, and what a continuing rise adds. */
  readonly riseRows: number;
  /** Rows of the event at half of the way or farther. */
  readonly displacedRows: number;
  /** The displacement of values. */
  readonly size: number;
}

/** Rows in which an event is examined. */
interface DepartureRows {
  /** First position of the event, and the first one behind it as far as is known. */
  readonly start: number;
  readonly until: number;
  /** The newest position. */
  readonly position: number;
  readonly stepMs: number;
  /** Distance of the peak of the event from what was expected. */
  readonly peak: number;
}

/**
 * How the values of an event left what was usual: the same time of an earlier week or day, or the level before,
 * whichever explains most of the rows before the event. null if these are not kept any more, or values did not
 * leave.
 */
export function departureOf({ rings, origin }: RingValues, rows: DepartureRows): Departure | null {
  const { start, until, position, stepMs, peak } = rows;
  const { contextCapacity } = rings.layout;
  const oldest = Math.max(0, rings.contextStart, position - contextCapacity + 1);
  const from = start - LEAD_ROWS;
  const lags = [WEEK_DAYS * DAY_MS, DAY_MS]
    .map((ms) => ms / stepMs)
    .filter((lag) => Number.isInteger(lag) && lag + LEAD_ROWS + SMOOTHED_ROWS <= contextCapacity);
  if (from - Math.max(0, ...lags) < oldest) return null;
  const at = (row: number) => rings.distanceAt(row);
  const level = presentMedian(rowsOf(from, from + USUAL_ROWS, at));
  const usuals = [
    () => level,
    ...lags.map((lag) => (row: number) => at(row - lag * Math.max(1, Math.ceil((row - start + 1) / lag)))),
  ];
  const spreads = usuals.map((usual) => spreadOf(rowsOf(from, from + USUAL_ROWS, (row) => at(row) - usual(row))));
  const least = Math.min(...spreads.filter((spread) => !Number.isNaN(spread)));
  const usual = usuals[spreads.indexOf(least)];
  if (usual === undefined) return null;
  const way = (row: number) => at(row) - usual(row);
  const own = rowsOf(start, Math.min(Math.max(until, start + OWN_ROWS_MIN), position + 1), way);
  // Values are back behind what was no event.
  if (own.length >= OWN_ROWS_MIN && Math.abs(presentMedian(own)) < DISPLACED_LEAST * peak) return null;
  const departure = departureIn(smoothed(rowsOf(from, position + 1, way)), until - from, least);
  const isPositive = rowsOf(from, position + 1, (row) => usual(row) + origin).every((value) => !(value <= 0));
  if (departure === null || departure.riseRows < DRIFT_ROWS || !isPositive) return departure;
  // What is multiplied moves on with its season: as a share of what is usual it is a step.
  const share = (row: number) => way(row) / (usual(row) + origin);
  const spread = spreadOf(rowsOf(from, from + USUAL_ROWS, share));
  const shares = departureIn(smoothed(rowsOf(from, position + 1, share)), until - from, spread);
  return shares !== null && shares.riseRows < departure.riseRows
    ? { ...departure, riseRows: shares.riseRows }
    : departure;
}

/**
 * @param distances from what was usual, of LEAD_ROWS rows before the event and those since
 * @param until the row at which they may be back; single values of a slow drift are typical long before
 * @param usual how far values usually lie from what is usual
 */
function departureIn(distances: readonly number[], until: number, usual: number): Departure | null {
  const first = Math.min(LEAD_ROWS, distances.length - SMOOTHED_ROWS);
  const end = Math.max(until, first + SMOOTHED_ROWS);
  const side = Math.sign(presentMedian(distances.slice(first, end)));
  const away = distances.map((value) => value * side);
  const isDisplaced = away[away.length - 1] >= AWAY_SHARE * sizeOf(away.slice(first, end));
  const recent = away.slice(first, isDisplaced ? away.length : end);
  const size = sizeOf(recent);
  if (!(size > usual)) return null;
  const reached = away.findIndex((value) => value >= RISE_TO * size);
  const left = away.findLastIndex((value, i) => i < reached && value < RISE_FROM * size);
  // Rows before the event show how far values are displaced, but none of them is displaced by it.
  const own = recent.slice(LEAD_ROWS - first);
  const displacedRows = own.filter((value) => value >= AWAY_SHARE * size).length;
  return { riseRows: reached - left + rowsToCome(recent, size), displacedRows, size };
}

/**
 * What a continuing rise adds: so many rows for the whole of the size between the first and the last third
 * of an event. A level that stays counts less than none, since noise lengthens the way to it. A short event, and one
 * whose values go back, show nothing.
 */
function rowsToCome(recent: readonly number[], size: number): number {
  const third = Math.floor(recent.length / 3);
  if (third < THIRD_ROWS) return 0;
  const growth = (presentMedian(recent.slice(-third)) - presentMedian(recent.slice(0, third))) / size;
  return growth >= RETURN_GROWTH ? GROWTH_ROWS * growth - STAYS_ROWS : 0;
}

/** NaN if few values are there. */
function sizeOf(values: readonly number[]): number {
  const present = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  return present.length < SMOOTHED_ROWS / 2 ? Number.NaN : present[Math.floor(SIZE_QUANTILE * present.length)];
}

/** Medians of the rows around each. */
function smoothed(values: readonly number[]): number[] {
  const half = SMOOTHED_ROWS >> 1;
  // The rows around one without those that are missing, ascending.
  const around: number[] = [];
  const medians: number[] = [];
  for (let i = -half; i < values.length; i++) {
    const [next, last] = [values[i + half] ?? Number.NaN, values[i - half - 1] ?? Number.NaN];
    if (!Number.isNaN(last)) around.splice(around.indexOf(last), 1);
    if (!Number.isNaN(next)) insert(around, next);
    if (i >= 0) medians.push(around[around.length >> 1] ?? Number.NaN);
  }
  return medians;
}

function insert(ascending: number[], value: number): void {
  let at = ascending.length;
  for (; at > 0 && ascending[at - 1] > value; at--) ascending[at] = ascending[at - 1];
  ascending[at] = value;
}

function spreadOf(values: readonly number[]): number {
  const centre = presentMedian(values);
  return presentMedian(values.map((value) => Math.abs(value - centre)));
}

function rowsOf(from: number, to: number, of: (row: number) => number): number[] {
  return Array.from({ length: to - from }, (_, i) => of(from + i));
}
