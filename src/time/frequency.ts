/**
 * Sampling frequencies by their pandas aliases, as grids of event times.
 */

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/** A grid of equal steps, of calendar months, or of weekdays (Monday to Friday). */
export type Frequency = { readonly alias: string } & (
  | { readonly kind: 'fixed'; readonly stepMs: number }
  | { readonly kind: 'calendar'; readonly months: number }
  | { readonly kind: 'weekday'; readonly days: number }
);

/** The step between two values. Half months and business hours have no grid. */
export type AliasStep =
  | { readonly kind: 'fixed'; readonly stepMs: number }
  | { readonly kind: 'months'; readonly months: number }
  | { readonly kind: 'half-months'; readonly halves: number }
  | { readonly kind: 'weekdays'; readonly days: number }
  | { readonly kind: 'business-hours'; readonly hours: number };

const FIXED_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  N: 1e-6,
  us: 1e-3,
  U: 1e-3,
  ms: 1,
  L: 1,
  s: SECOND_MS,
  S: SECOND_MS,
  // Minutes in Polars. Months in pandas are upper case.
  m: 60 * SECOND_MS,
  min: 60 * SECOND_MS,
  T: 60 * SECOND_MS,
  h: 3_600 * SECOND_MS,
  H: 3_600 * SECOND_MS,
  D: DAY_MS,
  W: 7 * DAY_MS,
};

/** Starts and ends of periods, and their business days: spellings before pandas 2.2, then since. */
const MONTHS: Readonly<Record<string, number>> = {
  // Months in Polars are `mo`.
  ...monthsEach(1, 'M MS BM BMS CBM CBMS WOM LWOM', 'ME BME CBME', 'mo'),
  ...monthsEach(3, 'Q QS BQ BQS REQ', 'QE BQE'),
  ...monthsEach(6, 'HYE HYS BHYE BHYS'),
  ...monthsEach(12, 'A AS BA BAS RE', 'Y YE YS BY BYE BYS'),
};
const HALF_MONTHS: ReadonlySet<string> = new Set(['SM', 'SMS', 'SME']);
const WEEKDAYS: ReadonlySet<string> = new Set(['B', 'C']);
const BUSINESS_HOURS: ReadonlySet<string> = new Set(['BH', 'CBH']);

function monthsEach(months: number, ...spellings: readonly string[]): Record<string, number> {
  return Object.fromEntries(spellings.flatMap((names) => names.split(' ').map((name) => [name, months])));
}

/** Anchored aliases: `W-SUN`, `QS-DEC`, `WOM-2FRI`. The anchor is a phase; the grid has the phase of the series. */
const ALIAS = /^(\d*)([A-Za-z]+)(-[A-Z0-9-]+)?$/;
const ANCHOR = /^-(?:MON|TUE|WED|THU|FRI|SAT|SUN|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)$/;

/**
 * Reads a pandas alias in the spelling of any version, with an optional multiple: `5min`, `15T`, `h`, `D`, `W-THU`,
 * `QS-DEC`, `2B`, `cbh`.
 * @returns null for an unknown name
 */
export function readAlias(alias: string): AliasStep | null {
  const match = ALIAS.exec(alias);
  if (match === null) return null;
  const multiple = match[1] === '' ? 1 : Number(match[1]);
  if (!Number.isSafeInteger(multiple) || multiple < 1) return null;
  const exact = match[2];
  // Before version 2.2 pandas accepted most names in lower case, too.
  return stepOf(exact, multiple) ?? stepOf(exact.toUpperCase(), multiple);
}

function stepOf(unit: string, multiple: number): AliasStep | null {
  if (Object.hasOwn(FIXED_MS, unit)) return { kind: 'fixed', stepMs: multiple * FIXED_MS[unit] };
  if (Object.hasOwn(MONTHS, unit)) return { kind: 'months', months: multiple * MONTHS[unit] };
  if (HALF_MONTHS.has(unit)) return { kind: 'half-months', halves: multiple };
  if (WEEKDAYS.has(unit)) return { kind: 'weekdays', days: multiple };
  if (BUSINESS_HOURS.has(unit)) return { kind: 'business-hours', hours: multiple };
  return null;
}

/**
 * The grid of a pandas alias (`5min`, `h`, `D`, `W-THU`, `QS-DEC`, `B`).
 * @returns null for an alias without a grid: business hours, half months, steps below a millisecond, unknown names
 */
export function parseFrequency(alias: string): Frequency | null {
  return gridOf(alias, readAlias(alias));
}

/** @param step what the alias was read as */
export function gridOf(alias: string, step: AliasStep | null): Frequency | null {
  const anchor = ALIAS.exec(alias)?.[3];
  if (step === null || (anchor !== undefined && !ANCHOR.test(anchor))) return null;
  switch (step.kind) {
    case 'fixed':
      return step.stepMs < 1 ? null : { alias, ...step };
    case 'months':
      return { alias, kind: 'calendar', months: step.months };
    case 'weekdays':
      return { alias, kind: 'weekday', days: step.days };
    default:
      return null;
  }
}

/**
 * Position of an event time on the grid with position 0 at `originMs`; negative before it.
 * A grid of equal steps rounds to the nearest position, so that it tolerates jitter up to half a step.
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

/** An event time at `position` of the grid with position 0 at `originMs`. */
export function gridTime(freq: Frequency, originMs: number, position: number): number {
  switch (freq.kind) {
    case 'fixed':
      return originMs + position * freq.stepMs;
    case 'calendar': {
      const month = monthNumber(originMs) + position * freq.months;
      return Date.UTC(Math.floor(month / 12), month % 12);
    }
    case 'weekday': {
      const weekday = weekdayNumber(originMs) + position * freq.days;
      return (Math.floor(weekday / 5) * 7 + (weekday % 5) - 3) * DAY_MS;
    }
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

const MONTH_MS = 30.4375 * DAY_MS;
const WEEKDAY_MS = (7 / 5) * DAY_MS;

/** Mean length of a step, in milliseconds: months and weekdays are not equally long. */
export function meanStepMs(freq: Frequency): number {
  switch (freq.kind) {
    case 'fixed':
      return freq.stepMs;
    case 'calendar':
      return freq.months * MONTH_MS;
    case 'weekday':
      return freq.days * WEEKDAY_MS;
  }
}
