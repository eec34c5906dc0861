import type { EventKind } from './event.ts';

/** What an event is classified by. Distances and changes are in units of the series; NaN where a value is missing. */
export interface KindEvidence {
  /** Values before the first alarm, oldest first. */
  readonly before: Float32Array;
  /** Values from the first alarm on. */
  readonly during: Float32Array;
  /** Residuals from the first alarm on, of at most RESIDUALS_KEPT rows, in deviations of earlier residuals. */
  readonly residuals: ArrayLike<number>;
  /** How far the values lay from their forecasts just before, in the same unit. */
  readonly leading: number;
  /** Rows from the first to the last alarm. */
  readonly span: number;
  /** Deviation of earlier changes. */
  readonly changeScale: number;
}

/** Residuals that an open event keeps. */
export const RESIDUALS_KEPT = 48;

/** A value is stuck when it comes so often in a row, and so much more often than before. */
const STUCK_ROWS = 6;
const STUCK_FACTOR = 2;
/** A burst has changes so many times as large as before, up and down, within so many rows. */
const BURST_CHANGES = 2.5;
const BURST_TURNS = 0.4;
const BURST_ROWS = 4;
/** A season is missing where values of this many rows vary by less than this share of what they did before. */
const SEASON_ROWS = 16;
const SEASON_SHARE = 0.5;
/** Displaced rows: as far as this share of the largest residual, on its side. */
const DISPLACED_SHARE = 0.35;
const DISPLACED_ROWS = 4;
/** A drift was on its way by this share of its size before the first alarm. */
const DRIFT_LEADING = 0.35;

/** The kind of an event, as far as its rows tell by now. O(rows). */
export function kindOf(rows: KindEvidence): EventKind {
  if (isStuck(rows)) return 'stuck';
  if (isBurst(rows)) return 'burst';
  if (lostItsSeason(rows)) return 'missing_season';
  const { extreme, displaced } = displacement(rows.residuals);
  if (displaced < DISPLACED_ROWS) return extreme < 0 ? 'dip' : 'spike';
  return rows.leading * Math.sign(extreme) > DRIFT_LEADING * Math.abs(extreme) ? 'drift' : 'level_shift';
}

/** The largest residual, and how many of the residuals are of its order. */
function displacement(residuals: ArrayLike<number>): { readonly extreme: number; readonly displaced: number } {
  let extreme = 0;
  for (let i = 0; i < residuals.length; i++) if (Math.abs(residuals[i]) > Math.abs(extreme)) extreme = residuals[i];
  let displaced = 0;
  for (let i = 0; i < residuals.length; i++) {
    if (residuals[i] * Math.sign(extreme) >= DISPLACED_SHARE * Math.abs(extreme)) displaced++;
  }
  return { extreme, displaced };
}

function isStuck({ before, during }: KindEvidence): boolean {
  // The value was stuck for some rows before it was odd enough for an alarm.
  let leading = 0;
  while (leading < before.length && before[before.length - 1 - leading] === during[0]) leading++;
  const now = Math.max(leading + runFromStart(during), longestRun(during));
  return now >= STUCK_ROWS && now > STUCK_FACTOR * longestRun(before.subarray(0, before.length - leading));
}

function runFromStart(values: Float32Array): number {
  let run = 0;
  while (run < values.length && values[run] === values[0]) run++;
  return run;
}

function longestRun(values: Float32Array): number {
  let longest = 0;
  let run = 0;
  for (let i = 0; i < values.length; i++) {
    run = i > 0 && values[i] === values[i - 1] ? run + 1 : Number.isNaN(values[i]) ? 0 : 1;
    if (run > longest) longest = run;
  }
  return longest;
}

function isBurst({ before, during, span, changeScale }: KindEvidence): boolean {
  const end = Math.min(span, during.length);
  if (end < BURST_ROWS) return false;
  let previous = before.at(-1) ?? Number.NaN;
  let changes = 0;
  let squares = 0;
  let turns = 0;
  let lastChange = 0;
  for (let i = 0; i < end; i++) {
    const change = during[i] - previous;
    previous = during[i];
    if (Number.isNaN(change)) continue;
    changes++;
    squares += change * change;
    if (change * lastChange < 0) turns++;
    lastChange = change;
  }
  const isWild = Math.sqrt(squares / changes) > BURST_CHANGES * changeScale;
  return changes >= BURST_ROWS && isWild && turns >= BURST_TURNS * (changes - 1);
}

function lostItsSeason({ before, during, span }: KindEvidence): boolean {
  const rows = Math.min(Math.max(span, SEASON_ROWS), during.length);
  if (rows < SEASON_ROWS) return false;
  const now = deviationOf(during.subarray(0, rows));
  const usual: number[] = [];
  for (let end = before.length; end >= rows; end -= Math.ceil(rows / 2)) {
    usual.push(deviationOf(before.subarray(end - rows, end)));
  }
  if (usual.length < 3) return false;
  usual.sort((a, b) => a - b);
  return now < SEASON_SHARE * usual[Math.floor(usual.length / 4)];
}

function deviationOf(values: Float32Array): number {
  let [count, sum, squares] = [0, 0, 0];
  const origin = values.find((value) => !Number.isNaN(value)) ?? 0;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    count++;
    sum += value - origin;
    squares += (value - origin) ** 2;
  }
  return count === 0 ? 0 : Math.sqrt(Math.max(0, squares / count - (sum / count) ** 2));
}
