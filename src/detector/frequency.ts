/**
 * Sampling frequencies by their pandas aliases, as grids on which event times find their position.
 */

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/** A grid of equal steps, of calendar months, or of weekdays (Monday to Friday). */
export type Frequency = { readonly alias: string; readonly season: number } & (
  | { readonly kind: 'fixed'; readonly stepMs: number }
  | { readonly kind: 'calendar'; readonly months: number }
  | { readonly kind: 'weekday'; readonly days: number }
);

const FIXED_MS: Readonly<Record<string, number>> = {
  ms: 1,
  L: 1,
  s: SECOND_MS,
  S: SECOND_MS,
  min: 60 * SECOND_MS,
  T: 60 * SECOND_MS,
  h: 3_600 * SECOND_MS,
  H: 3_600 * SECOND_MS,
  d: DAY_MS,
  D: DAY_MS,
  w: 7 * DAY_MS,
  W: 7 * DAY_MS,
};

const CALENDAR_MONTHS: Readonly<Record<string, number>> = {
  M: 1,
  ME: 1,
  MS: 1,
  BM: 1,
  BME: 1,
  BMS: 1,
  Q: 3,
  QE: 3,
  QS: 3,
  BQ: 3,
  BQE: 3,
  BQS: 3,
  A: 12,
  AS: 12,
  Y: 12,
  YE: 12,
  YS: 12,
  BY: 12,
  BYE: 12,
  BYS: 12,
};

const WEEKDAYS: ReadonlySet<string> = new Set(['B', 'C']);

/** Anchored aliases: `W-SUN`, `QS-DEC`, `YE-MAR`. The anchor names a phase; the grid takes its phase from the series. */
const ALIAS = /^(\d*)([A-Za-z]+)(?:-(?:MON|TUE|WED|THU|FRI|SAT|SUN|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC))?$/;

/**
 * Reads a pandas alias (`5min`, `h`, `D`, `W-THU`, `QS-DEC`, `B`).
 * @returns null for an alias without a grid of its own (business hours, unknown names).
 */
export function parseFrequency(alias: string): Frequency | null {
  const match = ALIAS.exec(alias);
  if (match === null) return null;
  const multiple = match[1] === '' ? 1 : Number(match[1]);
  const unit = match[2]!;
  if (!Number.isSafeInteger(multiple) || multiple < 1) return null;
  const unitMs = FIXED_MS[unit];
  if (unitMs !== undefined) {
    const stepMs = multiple * unitMs;
    return { alias, kind: 'fixed', stepMs, season: fixedSeason(stepMs) };
  }
  const months = CALENDAR_MONTHS[unit];
  if (months !== undefined) {
    return {
      alias,
      kind: 'calendar',
      months: multiple * months,
      season: Math.max(1, Math.round(12 / (multiple * months))),
    };
  }
  if (WEEKDAYS.has(unit))
    return { alias, kind: 'weekday', days: multiple, season: Math.max(1, Math.round(5 / multiple)) };
  return null;
}

/** Observations in the shortest natural season longer than one step: a minute, an hour or a day for fine sampling, then a week, then a year. */
function fixedSeason(stepMs: number): number {
  if (stepMs < SECOND_MS) return Math.round(SECOND_MS / stepMs);
  if (stepMs < 60 * SECOND_MS) return Math.round((3_600 * SECOND_MS) / stepMs);
  if (stepMs < DAY_MS) return Math.max(1, Math.round(DAY_MS / stepMs));
  if (stepMs < 7 * DAY_MS) return Math.max(1, Math.round((7 * DAY_MS) / stepMs));
  return Math.max(1, Math.round((364 * DAY_MS) / stepMs));
}

/**
 * Position of an event time on the grid that has position 0 at `originMs`; negative before it.
 * On a grid of equal steps the nearest position counts, so that jitter up to half a step does no harm.
 */
export function gridPosition(freq: Frequency, originMs: number, timestampMs: number): number {
  switch (freq.kind) {
    case 'fixed':
      return Math.round((timestampMs - originMs) / freq.stepMs);
    case 'calendar':
      return Math.floor((monthNumber(timestampMs) - monthNumber(originMs)) / freq.months);
    case 'weekday':
      return Math.floor((weekdayNumber(timestampMs) - weekdayNumber(originMs)) / freq.days);
  }
}

function monthNumber(timestampMs: number): number {
  const date = new Date(timestampMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Weekdays since Monday 1969-12-29; a weekend belongs to its Friday. */
function weekdayNumber(timestampMs: number): number {
  const days = Math.floor(timestampMs / DAY_MS) + 3;
  const week = Math.floor(days / 7);
  return week * 5 + Math.min(days - week * 7, 4);
}
