import type { Decimation } from '../detector/decimation.ts';
import { type AliasStep, readAlias } from '../detector/frequency.ts';

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
 * Cycles and histories, in steps of the family. Old clients ask for intervals only of series that are at least the history and a horizon long, and
 * all clients cut what they send to it; so where series tend to be short it is no longer than it must be, and a forecast looks at no more of them.
 */
const HOURLY = { cycle: 24, history: 336 };
const DAILY = { cycle: 7, history: 140 };
const WEEKDAILY = { cycle: 5, history: 100 };
const BUSINESS_HOURLY = { cycle: 8, history: 160 };
const WEEKLY = { cycle: 52, history: 104 };
const HALF_MONTHLY = { cycle: 24, history: 216 };
const MONTHLY = { cycle: 12, history: 108 };
const QUARTERLY = { cycle: 4, history: 40 };
/** Multiples of a step are not looked at for fewer values than this, years for as many. */
const HISTORY_MIN = 24;
/** A cycle of fewer and not a whole number of steps is taken as many times as make it one. */
const ROUNDED_SEASON_MIN = 4;

/** The profile of a pandas alias; unknown ones get a generic one. */
export function frequencyProfile(alias: string): FrequencyProfile {
  const step = readAlias(alias);
  return step === null ? GENERIC : profileOf(step);
}

function profileOf(step: AliasStep): FrequencyProfile {
  switch (step.kind) {
    case 'fixed':
      return fixedProfile(step.stepMs);
    case 'weekdays':
      return stepped(WEEKDAILY, step.days);
    case 'business-hours':
      return stepped(BUSINESS_HOURLY, step.hours);
    case 'half-months':
      return stepped(HALF_MONTHLY, step.halves);
    case 'months':
      return step.months % 3 === 0 ? stepped(QUARTERLY, step.months / 3) : stepped(MONTHLY, step.months);
  }
}

function fixedProfile(stepMs: number): FrequencyProfile {
  if (stepMs >= 7 * DAY_MS) return stepped(WEEKLY, stepMs / (7 * DAY_MS));
  if (stepMs >= DAY_MS) return stepped(DAILY, stepMs / DAY_MS);
  if (stepMs >= HOUR_MS) return stepped(HOURLY, stepMs / HOUR_MS);
  const hour = Math.floor(HOUR_MS / stepMs);
  if (stepMs >= HOUR_MS / 60) {
    const season = seasonOf(DAY_MS, stepMs);
    return { season, history: null, fine: hour > 1 ? { hour, day: season } : null };
  }
  if (stepMs >= 1_000) return { season: seasonOf(HOUR_MS, stepMs), history: null, fine: null };
  // Less than a second: a thousand of the unit make the next one.
  const unitMs = [1, 1e-3, 1e-6].find((unit) => stepMs >= unit) ?? stepMs;
  return { season: seasonOf(1_000, Math.round(stepMs / unitMs)), history: null, fine: null };
}

function stepped({ cycle, history }: { readonly cycle: number; readonly history: number }, step: number) {
  return { season: seasonOf(cycle, step), history: Math.max(HISTORY_MIN, Math.ceil(history / step)), fine: null };
}

/** Steps in a cycle, to the nearest; or in the fewest cycles that are a whole number of steps, where one has but a few. */
function seasonOf(cycle: number, step: number): number {
  if (cycle / step >= ROUNDED_SEASON_MIN || !Number.isInteger(step)) return Math.max(1, Math.round(cycle / step));
  return cycle / divisorOf(cycle, step);
}

function divisorOf(a: number, b: number): number {
  return b === 0 ? a : divisorOf(b, a % b);
}

/** Yearly data has a season of one step; a forecast covers some more. */
const HORIZON_MIN = 4;
/** A history is forecast from within in shorter pieces than a season of fine sampling: what is near is known better. */
const IN_SAMPLE_HORIZON_MAX = 24;

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
export function decimationOf(freq: string, contextMax: number): Decimation | null {
  const { fine } = frequencyProfile(freq);
  return fine && { stride: fine.hour, blocks: Math.min(HOURS_SEEN, contextMax), day: fine.day };
}

/** Steps that one forecast covers where a history is forecast from within. */
export function inSampleHorizon(freq: string): number {
  return Math.min(seasonalHorizon(freq), IN_SAMPLE_HORIZON_MAX);
}
