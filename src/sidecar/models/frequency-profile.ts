import { type AliasStep, readAlias } from '../../calendar/frequency.ts';
import { seasonLength } from '../../calendar/season.ts';
import type { TemporalAggregation } from '../../forecast/temporal-aggregation.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What forecasts of series of one frequency are made for, and what they look at; lengths in values. */
export interface FrequencyProfile {
  /** The shortest natural cycle longer than a step. */
  readonly season: number;
  /** Values before a cutoff that a forecast looks at where series tend to be short; null: all that the model can. */
  readonly history: number | null;
  /** Of values less than an hour apart, how many make an hour and a day; null where the model's context shows day and week by itself. */
  readonly fine: { readonly hour: number; readonly day: number } | null;
}

/** Unknown frequencies get this one. */
const GENERIC: FrequencyProfile = { season: 24, history: null, fine: null };

/**
 * Histories, in steps of the family. Old clients ask for intervals only of series that are at least this and a horizon long, and all clients cut what
 * they send to it; so where series tend to be short it is no longer than it must be, and a forecast looks at no more of them.
 */
const HOURS = 336;
const DAYS = 140;
const WEEKDAYS = 100;
const BUSINESS_HOURS = 160;
const WEEKS = 104;
const HALF_MONTHS = 216;
const MONTHS = 108;
const QUARTERS = 40;
/** Of multiples of a step, and of years, no fewer values are looked at. */
const HISTORY_MIN = 24;

/** The profile of a pandas alias; unknown ones get a generic one. */
export function frequencyProfile(alias: string): FrequencyProfile {
  const step = readAlias(alias);
  if (step === null) return GENERIC;
  const season = seasonLength(step);
  const history = historyOf(step);
  return { season, history: history && Math.max(HISTORY_MIN, Math.ceil(history)), fine: fineOf(step, season) };
}

function historyOf(step: AliasStep): number | null {
  switch (step.kind) {
    case 'fixed':
      if (step.stepMs >= 7 * DAY_MS) return (WEEKS * 7 * DAY_MS) / step.stepMs;
      if (step.stepMs >= DAY_MS) return (DAYS * DAY_MS) / step.stepMs;
      return step.stepMs >= HOUR_MS ? (HOURS * HOUR_MS) / step.stepMs : null;
    case 'weekdays':
      return WEEKDAYS / step.days;
    case 'business-hours':
      return BUSINESS_HOURS / step.hours;
    case 'half-months':
      return HALF_MONTHS / step.halves;
    case 'months':
      return step.months % 3 === 0 ? QUARTERS / (step.months / 3) : MONTHS / step.months;
  }
}

function fineOf(step: AliasStep, season: number): FrequencyProfile['fine'] {
  if (step.kind !== 'fixed' || step.stepMs < HOUR_MS / 60) return null;
  const hour = Math.floor(HOUR_MS / step.stepMs);
  return hour > 1 ? { hour, day: season } : null;
}

/** Yearly data has a season of one step; a forecast covers some more. */
const HORIZON_MIN = 4;
/**
 * A history is forecast from within in shorter pieces than a long season: what is near is known better, and as many steps as the model decodes at
 * once cost least. `npm run bench -- in-sample`: with 16 instead of 24 forecasts of 5-minute data are 8 % nearer, and fewer flags are false.
 */
const IN_SAMPLE_HORIZON_MAX = 16;

/** Steps that one forecast of such a series is meant to cover: a season. */
export function seasonalHorizon(freq: string): number {
  return Math.max(HORIZON_MIN, frequencyProfile(freq).season);
}

/** Values before a cutoff that forecasts and cross-validation give to the model as they are; at most what it can take. */
export function forecastContext(freq: string, contextMax: number): number {
  return Math.min(contextMax, frequencyProfile(freq).history ?? contextMax);
}

/**
 * Hours that a forecast of fine sampling looks at: a week and a half, which shows a week. With the two days in which it is tried whether they help
 * it is less than 13 days, so that two weeks of data are enough for a forecast with intervals whatever the client.
 */
const HOURS_SEEN = 256;

/** How the model is shown day and week of fine sampling; null where its context shows them. */
export function aggregationOf(freq: string, contextMax: number): TemporalAggregation | null {
  const { fine } = frequencyProfile(freq);
  return fine && { stride: fine.hour, blocks: Math.min(HOURS_SEEN, contextMax), day: fine.day };
}

/**
 * Values that a forecast from within looks at where fewer do as well as all that the model can, by the season: some four months of days, five
 * years of weeks. `npm run bench -- in-sample`: nearly the same hits and false alarms as with 512 for a third of the time. Longer steps would cost
 * less, too, but 14 days instead of 7 miss 14 of 219 incidents more, and 28 days 60.
 */
const IN_SAMPLE_CONTEXTS: Readonly<Record<number, number>> = { 5: 112, 7: 112, 52: 256 };

/** Values before a value (after it, at the beginning) that it is forecast from within a history; at most what the model can. */
export function inSampleContext(freq: string, contextMax: number): number {
  return Math.min(contextMax, IN_SAMPLE_CONTEXTS[seasonalHorizon(freq)] ?? contextMax);
}

/** Steps that one forecast covers where a history is forecast from within. */
export function inSampleHorizon(freq: string): number {
  return Math.min(seasonalHorizon(freq), IN_SAMPLE_HORIZON_MAX);
}
