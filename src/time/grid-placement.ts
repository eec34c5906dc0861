import { type Frequency, gridPosition, gridTime } from './frequency.ts';

/**
 * Position of an observation relative to the newest one of its series:
 * - `next`: a later time step, after `missing` grid steps without an observation
 * - `duplicate`: the same time step as the newest one
 * - `late`: older than the newest one
 * - `restart`: the gap is above the limit; the series starts over
 */
type GridPlacement =
  | { readonly kind: 'next'; readonly missing: number }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'late' }
  | { readonly kind: 'restart'; readonly missing: number };

interface SeriesGrid {
  readonly freq: Frequency;
  /** Event time of position 0, as `followPhase` estimates it. */
  readonly originMs: number;
  /** Number of positions so far, at least 1. */
  readonly positions: number;
  /** Event time of the newest observation; NaN if it is not known. */
  readonly newestMs: number;
  /** Observations that are further apart never share a time step. */
  readonly jitterMs: number;
  /** Most missing steps; above it the series starts over. */
  readonly gapLimit: number;
}

/** Share of its deviation from the grid by which an observation moves the phase, after the first few. */
export const PHASE_GAIN_MIN = 1 / 16;
/**
 * An observation takes the next step ahead of its time by at most this share of a step. So a series that is sampled
 * twice as often as its frequency does not run ahead of the clock.
 */
const AHEAD_MAX = 0.75;

const DUPLICATE: GridPlacement = { kind: 'duplicate' };
const LATE: GridPlacement = { kind: 'late' };
const NEXT: GridPlacement = { kind: 'next', missing: 0 };

/** Snaps an observation to the nearest step of the grid, unless it would share the step of one that is too far away. */
export function placeOnGrid(grid: SeriesGrid, timestampMs: number): GridPlacement {
  const { positions, newestMs, jitterMs } = grid;
  const missing = gridPosition(grid.freq, grid.originMs, timestampMs) - positions;
  if (missing === 0) return NEXT;
  if (missing < -1) return LATE;
  if (missing === -1) {
    if (timestampMs - newestMs > jitterMs && mayTakeNext(grid, timestampMs)) return NEXT;
    return newestMs - timestampMs > jitterMs ? LATE : DUPLICATE;
  }
  return { kind: missing > grid.gapLimit ? 'restart' : 'next', missing };
}

function mayTakeNext({ freq, originMs, positions }: SeriesGrid, timestampMs: number): boolean {
  return freq.kind === 'fixed' && originMs + (positions - AHEAD_MAX) * freq.stepMs <= timestampMs;
}

/**
 * The event time of position 0 after an observation at `position`: the phase is the mean of the first observations,
 * then follows them slowly. The first observation alone may lie half a step off the grid that the others keep.
 */
export function followPhase(
  freq: Frequency,
  originMs: number,
  { position, timestampMs }: { readonly position: number; readonly timestampMs: number },
): number {
  if (freq.kind !== 'fixed') return originMs;
  const deviation = timestampMs - (originMs + position * freq.stepMs);
  return originMs + Math.max(PHASE_GAIN_MIN, 1 / (position + 1)) * deviation;
}

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
/** 1970-01-04. */
const SUNDAY_MS = 3 * DAY_MS;

/**
 * The step of a frequency that an event time is in, the same for all series: multiples of a fixed step since 1970,
 * weeks that end on the day of their anchor (`W` on Sunday), calendar months and groups of them, weekdays. All in UTC.
 */
export function gridStepAt(freq: Frequency, timestampMs: number): { readonly startMs: number; readonly endMs: number } {
  const originMs = anchorMs(freq);
  if (freq.kind === 'fixed') {
    const startMs = originMs + Math.floor((timestampMs - originMs) / freq.stepMs) * freq.stepMs;
    return { startMs, endMs: startMs + freq.stepMs };
  }
  const position = gridPosition(freq, originMs, timestampMs);
  return { startMs: gridTime(freq, originMs, position), endMs: gridTime(freq, originMs, position + 1) };
}

/** The start of some step. Quarters and years end, or start (`QS`, `YS`), in the month of their anchor. */
function anchorMs(freq: Frequency): number {
  if (freq.kind === 'fixed' && freq.stepMs % WEEK_MS !== 0) return 0;
  const [unit, anchor = ''] = freq.alias.split('-');
  switch (freq.kind) {
    case 'fixed':
      return SUNDAY_MS + (Math.max(0, DAYS.indexOf(anchor)) + 1) * DAY_MS;
    case 'calendar': {
      const month = MONTHS.indexOf(anchor);
      return month < 0 ? 0 : Date.UTC(1970, /S$/i.test(unit) ? month : month + 1);
    }
    case 'weekday':
      // 1970-01-05 is a Monday.
      return 4 * DAY_MS;
  }
}
